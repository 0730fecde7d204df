create table idempotency (
  owner       text not null,
  key         text not null,
  fingerprint text not null,
  status      integer not null,
  headers     text not null,
  body        text,
  created_at  text not null,
  primary key (owner, key)
) strict;

create index idempotency_by_age on idempotency (created_at);
