-- What is compared between processes and the database does not repeat after commits were lost (docs/adr/0030-identities-that-cannot-repeat.md).

-- 52 random bits: a number of JavaScript holds them, also after earlier versions have added one.
create function sync.random_revision() returns bigint language sql volatile
  return ('x' || right(replace(gen_random_uuid()::text, '-', ''), 13))::bit(52)::bigint;

-- A new revision is random, whichever version writes it. It is only compared for equality.
create function sync.renew_revision() returns trigger language plpgsql as $$
begin
  new.revision := sync.random_revision();
  return new;
end $$;
create trigger renew_revision before update of revision on sync.destinations
  for each row when (old.revision <> new.revision) execute function sync.renew_revision();

-- Entries that are not done, and that nothing would ever move. The index is empty as long as there is no bug, and nothing was lost.
create index entries_stuck on sync.entries (updated_at)
  where due_at is null and announced_at is null and lease_until is null
    and status in ('PENDING', 'EXTERNAL_SERVICE_ERROR', 'INTERNAL_SERVICE_ERROR')
    and (waits_for is null or applied_generation >= generation);
