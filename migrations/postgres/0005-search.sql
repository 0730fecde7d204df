-- What skills are found by, of the version that is shown: names have weight A, tags B,
-- descriptions C. The terms are split before they come here, and no language is applied to them.
create table skill_search (
  skill  bigint primary key references skills on delete cascade,
  length integer not null,
  terms  tsvector not null
);

create index skill_search_by_terms on skill_search using gin (terms) with (fastupdate = off);
