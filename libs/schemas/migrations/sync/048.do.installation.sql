-- The installation that this database belongs to, stored at its first start: a copy or a restored database differs from it
-- (docs/operations/running.md#held-syncing). The page has room for new versions of the row.
create table sync.installation (
  id boolean primary key default true check (id),
  name text, -- the setting INSTALLATION
  other_name text, -- another one, with which a service was started; null once somebody has confirmed the installation
  held_because text, -- database or recovery: what a comparison has found; null once somebody has confirmed the installation
  system_identifier bigint, -- of the server; not known where pg_control_system may not be called
  database_oid oid, -- another one after `create database … template`
  table_oid oid, -- of this table: another one after a dump was restored
  timeline text, -- of the server; another one after each promotion and after recovery to a point in time
  place text, -- of the files of an embedded server
  server_started_at timestamptz, -- when the server was started that all of this was compared with; null before the first start
  alive_at timestamptz, -- when sync-control was last seen while nothing was held
  confirmed_at timestamptz
) with (fillfactor = 10);
insert into sync.installation default values;

-- Identifies the database that this statement runs in. What a server does not show, such as a managed one, is null. Too expensive
-- for each claim: it reads a file.
create function sync.database_identity(out system_identifier bigint, out database_oid oid, out table_oid oid, out timeline text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  select d.oid into database_oid from pg_database d where d.datname = current_database();
  select c.oid into table_oid from pg_class c where c.relname = 'installation' and c.relnamespace = 'sync'::regnamespace;
  begin
    select s.system_identifier into system_identifier from pg_control_system() s;
  exception when others then null;
  end;
  begin
    -- Not pg_control_checkpoint: it has the earlier timeline until the first checkpoint after a promotion.
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  exception when others then null;
  end;
end $$;

-- Has a row while nothing may be sent outside. A copy has one from its first moment: its server was started at another time than
-- the one that the database was compared with. Every claim asks this, so it costs one row and what is in memory.
create view sync.held as
  select i.id from sync.installation i
   where i.other_name is not null or i.held_because is not null or i.server_started_at <> pg_postmaster_start_time()
      or i.table_oid <> i.tableoid or i.database_oid <> (select d.oid from pg_database d where d.datname = current_database());
