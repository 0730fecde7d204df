create table api_keys (
  seq        integer primary key autoincrement,
  hash       text not null unique,
  prefix     text not null,
  name       text not null,
  scopes     text not null,
  tags       text,
  agents     text,
  expires_at text,
  budget     integer,
  created_at text not null,
  revoked_at text
) strict;
