create table registry (
  id       bigint primary key check (id = 1),
  revision bigint not null
);

insert into registry (id, revision) values (1, 0);

create table probe (
  id     bigint primary key check (id = 1),
  writes bigint not null
);

insert into probe (id, writes) values (1, 0);

-- shown: the row of the current version, or of the latest while none is current.
create table skills (
  seq             bigint generated always as identity primary key,
  name            text collate "C" not null unique,
  enabled         smallint not null,
  current_version bigint,
  latest_version  bigint not null,
  shown           bigint,
  source          text not null,
  folder          text,
  withdrawn       smallint not null,
  revision        bigint not null,
  created_at      text not null,
  updated_at      text not null
);

create unique index skills_by_revision on skills (revision);

create table skill_versions (
  seq              bigint generated always as identity primary key,
  skill            bigint not null references skills on delete cascade,
  version          bigint not null,
  digest           text not null,
  title            text,
  description      text not null,
  declared_version text,
  tags             text not null,
  allowed_tools    text,
  license          text,
  compatibility    text,
  metadata         text not null,
  extra            text not null,
  hidden           smallint not null,
  body             text not null,
  size             bigint not null,
  catalog_tokens   bigint not null,
  body_tokens      bigint not null,
  warnings         text not null,
  note             text,
  written_by       text,
  written_at       text not null,
  unique (skill, version)
);

create table blobs (
  sha256 text primary key,
  bytes  bytea not null
);

create table skill_files (
  version    bigint not null references skill_versions on delete cascade,
  path       text collate "C" not null,
  sha256     text not null references blobs,
  size       bigint not null,
  media_type text not null,
  primary key (version, path)
);

create index skill_files_by_blob on skill_files (sha256);

-- Lower case, as filters compare them.
create table skill_tags (
  version bigint not null references skill_versions on delete cascade,
  tag     text not null
);

create index skill_tags_by_version on skill_tags (version);

create table skill_tools (
  version bigint not null references skill_versions on delete cascade,
  tool    text not null
);

create index skill_tools_by_version on skill_tools (version);
