-- The number of a change is used again if its commit is lost, as in a failover to a standby that does not have it yet. Its identity is not: a
-- trigger draws it, for the statements of the previous version as well. A change that such a statement has recorded has no identity here, and
-- concerns everything.
alter table login.access_epoch add column change_id uuid not null default gen_random_uuid();
alter table login.access_changes add column change_id uuid;

create function login.identify_change() returns trigger language plpgsql set search_path = '' as $$
begin
  new.change_id := gen_random_uuid();
  return new;
end $$;
create trigger identify_change before update on login.access_epoch for each row execute function login.identify_change();
