-- The secret that an auth mount of type jwt proves its identity with at the provider, encrypted.
alter table login.jwt_configs add column sealed_oidc_client_secret bytea;
