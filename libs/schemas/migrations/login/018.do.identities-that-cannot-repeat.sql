-- What is compared between processes and the database does not repeat after commits were lost (docs/adr/0030-identities-that-cannot-repeat.md).

-- 52 random bits: a number of JavaScript holds them, also after earlier versions have added one.
create function login.random_revision() returns bigint language sql volatile
  return ('x' || right(replace(gen_random_uuid()::text, '-', ''), 13))::bit(52)::bigint;

-- Another one after each write of the configuration, whichever version writes it.
alter table login.cloudb_configs add column revision bigint not null default login.random_revision();
create function login.renew_revision() returns trigger language plpgsql as $$
begin
  new.revision := login.random_revision();
  return new;
end $$;
create trigger renew_revision before update of settings, updated_at on login.cloudb_configs
  for each row execute function login.renew_revision();
