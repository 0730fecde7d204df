-- The whole output of a tool, where the result holds only a part of it.
alter table tool_calls add column output text;

-- What is left out of the context, as JSON.
alter table conversations add column compaction text;

-- The turn whose end is the answer, until the answer itself is kept.
alter table idempotency add column turn bigint;

-- What of a model call was skills, and what it would have been with all bodies in the prompt.
alter table turn_steps add column catalog_tokens bigint not null default 0;

alter table turn_steps add column body_tokens bigint not null default 0;

alter table turn_steps add column inlined_tokens bigint not null default 0;

create table skill_uses (
  seq          bigint generated always as identity primary key,
  skill        text collate "C" not null,
  version      bigint,
  kind         text not null,
  tokens       bigint not null,
  conversation bigint not null,
  turn         bigint not null,
  step         bigint not null,
  owner        text,
  used_at      text collate "C" not null
);

create index skill_uses_by_skill on skill_uses (skill, version, kind);

create table token_spending (
  owner  text not null,
  day    text collate "C" not null,
  tokens bigint not null,
  primary key (owner, day)
);
