create table registry (
  id       integer primary key check (id = 1),
  revision integer not null
) strict;

insert into registry (id, revision) values (1, 0);

create table probe (
  id     integer primary key check (id = 1),
  writes integer not null
) strict;

insert into probe (id, writes) values (1, 0);

-- shown: the row of the current version, or of the latest while none is current.
create table skills (
  seq             integer primary key autoincrement,
  name            text not null unique,
  enabled         integer not null,
  current_version integer,
  latest_version  integer not null,
  shown           integer,
  source          text not null,
  folder          text,
  withdrawn       integer not null,
  revision        integer not null,
  created_at      text not null,
  updated_at      text not null
) strict;

create unique index skills_by_revision on skills (revision);

create table skill_versions (
  seq              integer primary key autoincrement,
  skill            integer not null references skills on delete cascade,
  version          integer not null,
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
  hidden           integer not null,
  body             text not null,
  size             integer not null,
  catalog_tokens   integer not null,
  body_tokens      integer not null,
  warnings         text not null,
  note             text,
  written_by       text,
  written_at       text not null,
  unique (skill, version)
) strict;

create table blobs (
  sha256 text primary key,
  bytes  blob not null
) strict;

create table skill_files (
  version    integer not null references skill_versions on delete cascade,
  path       text not null,
  sha256     text not null references blobs,
  size       integer not null,
  media_type text not null,
  primary key (version, path)
) strict, without rowid;

create index skill_files_by_blob on skill_files (sha256);

-- Lower case, as filters compare them.
create table skill_tags (
  version integer not null references skill_versions on delete cascade,
  tag     text not null
) strict;

create index skill_tags_by_version on skill_tags (version);

create table skill_tools (
  version integer not null references skill_versions on delete cascade,
  tool    text not null
) strict;

create index skill_tools_by_version on skill_tools (version);
