-- What is set up by name, each as JSON. Revisions are shared and never given twice, so that what is
-- deleted and made again has another one.
create table agents (
  name       text collate "C" primary key,
  definition text not null,
  revision   bigint not null,
  created_at text not null,
  updated_at text not null
);

create table tools (
  name       text collate "C" primary key,
  definition text not null,
  revision   bigint not null,
  created_at text not null,
  updated_at text not null
);

create table mcp_servers (
  name       text collate "C" primary key,
  definition text not null,
  revision   bigint not null,
  created_at text not null,
  updated_at text not null
);

create table definition_revisions (
  id       smallint primary key check (id = 1),
  revision bigint not null
);

insert into definition_revisions (id, revision) values (1, 0);
