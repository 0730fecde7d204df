-- What skills are found by, of the version that is shown; rowid is skills.seq. The text is split
-- into terms before it comes here, so the tokenizer has only to cut at blanks. It keeps no copy.
create virtual table skill_search using fts5 (
  name, description, tags,
  content = '', contentless_delete = 1, tokenize = 'ascii'
);

create trigger skill_search_removed after delete on skills begin
  delete from skill_search where rowid = old.seq;
end;
