-- The microsecond of a version's creation, and unique: of two in one, the later one is put later.
alter table skill_versions add column epoch integer not null default 0;

update skill_versions
set epoch = filled.epoch
from (
  select seq, max(instant - place) over (order by seq) + place as epoch
  from (
    select
      seq,
      row_number() over (order by seq) as place,
      cast(strftime('%s', written_at) as integer) * 1000000
        + cast(substr(written_at, 21, 3) as integer) * 1000 as instant
    from skill_versions
  ) as placed
) as filled
where filled.seq = skill_versions.seq;

create unique index skill_versions_by_epoch on skill_versions (epoch);

-- epoch: the highest that was ever given to a version.
alter table registry add column epoch integer not null default 0;

update registry set epoch = (select coalesce(max(epoch), 0) from skill_versions);

-- What a skill is called by those who put it up; before the title that a version has.
alter table skills add column display_name text;

-- What is left of a skill whose last version was deleted: no name is taken by it.
create table skill_shells (
  seq            integer primary key,
  name           text not null,
  display_name   text,
  enabled        integer not null,
  latest_version integer not null,
  created_at     text not null,
  updated_at     text not null
) strict;
