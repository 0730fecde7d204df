create table idempotency (
  owner       text not null,
  key         text not null,
  fingerprint text not null,
  status      smallint not null,
  headers     text not null,
  body        text,
  created_at  text collate "C" not null,
  primary key (owner, key)
);

create index idempotency_by_age on idempotency (created_at);
