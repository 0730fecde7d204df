-- What is set up by name, each as JSON. Revisions are shared and never given twice, so that what is
-- deleted and made again has another one.
create table agents (
  name       text primary key,
  definition text not null,
  revision   integer not null,
  created_at text not null,
  updated_at text not null
) strict;

create table tools (
  name       text primary key,
  definition text not null,
  revision   integer not null,
  created_at text not null,
  updated_at text not null
) strict;

create table mcp_servers (
  name       text primary key,
  definition text not null,
  revision   integer not null,
  created_at text not null,
  updated_at text not null
) strict;

create table definition_revisions (
  id       integer primary key check (id = 1),
  revision integer not null
) strict;

insert into definition_revisions (id, revision) values (1, 0);
