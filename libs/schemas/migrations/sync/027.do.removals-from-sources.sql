-- A removal that nobody requested in sync itself keeps the recovery window of the store, where there is one.
alter table sync.entries add column is_recoverable boolean not null default false;

-- Marks of a round of the reconciliation are settled when it has compared everything; until then, the count is not complete.
alter table sync.removal_brakes add column is_counting boolean not null default false;

-- How many external secrets the first associations of a mount have, up to `at_most`. With its owner's rights, because the row-level security of
-- associations looks at all destinations.
create function sync.external_secrets_of(of_mount uuid, at_most int) returns bigint
  language sql stable security definer set search_path = '' as $$
  select count(*) from (
    select from (select id from sync.associations where mount_id = of_mount limit at_most) as a
      cross join lateral (select from sync.entries where association_id = a.id and desired = 'present' limit at_most) as e
     limit at_most) as counted
$$;
revoke all on function sync.external_secrets_of from public;
