create table api_keys (
  seq        bigint generated always as identity primary key,
  hash       text not null unique,
  prefix     text not null,
  name       text not null,
  scopes     text not null,
  tags       text,
  agents     text,
  expires_at text,
  budget     bigint,
  created_at text not null,
  revoked_at text
);
