-- What a model made of a text, told by the text's hash: kept, so that no start asks for it again.
-- A vector is its numbers as little-endian floats of 32 bits.
create table embeddings (
  model  text collate "C" not null,
  sha256 text collate "C" not null,
  vector bytea not null,
  primary key (model, sha256)
);
