create table conversations (
  seq        integer primary key autoincrement,
  agent      text not null,
  owner      text,
  settings   text not null,
  created_at text not null,
  updated_at text not null
) strict;

create index conversations_by_owner on conversations (owner, seq);

create table turns (
  seq          integer primary key autoincrement,
  conversation integer not null references conversations on delete cascade,
  status       text not null,
  stop_reason  text,
  steps        integer not null,
  usage        text not null,
  receipt      text not null,
  error        text,
  created_at   text not null,
  updated_at   text not null
) strict;

create index turns_by_conversation on turns (conversation, seq);

create unique index one_running_turn on turns (conversation) where status = 'running';

create table messages (
  seq          integer primary key autoincrement,
  conversation integer not null references conversations on delete cascade,
  turn         integer not null references turns on delete cascade,
  format       integer not null,
  message      text not null
) strict;

create index messages_by_conversation on messages (conversation, seq);

create index messages_by_turn on messages (turn);

-- What was sent to models, as JSON strings: system prompts, tools and skills on offer.
create table texts (
  sha256 text primary key,
  text   text not null
) strict;

create table turn_steps (
  turn     integer not null references turns on delete cascade,
  step     integer not null,
  revision integer not null,
  system   text not null references texts,
  tools    text not null references texts,
  offered  text not null references texts,
  primary key (turn, step)
) strict, without rowid;

create index turn_steps_by_system on turn_steps (system);

create index turn_steps_by_tools on turn_steps (tools);

create index turn_steps_by_offered on turn_steps (offered);

create table tool_calls (
  seq          integer primary key autoincrement,
  conversation integer not null references conversations on delete cascade,
  turn         integer not null references turns on delete cascade,
  step         integer not null,
  call_id      text not null,
  name         text not null,
  kind         text not null,
  format       integer not null,
  result       text,
  unique (conversation, call_id)
) strict;

create index tool_calls_by_conversation on tool_calls (conversation, seq);

create index tool_calls_by_turn on tool_calls (turn);
