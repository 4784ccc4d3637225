-- A rotation looks for other auth mounts of the same application before it removes a password that was entered.
create index cloudb_configs_by_application on login.cloudb_configs (lower(settings->>'client_id'))
  where sealed_client_secret is not null;
