-- Auth mounts that are listed to everybody, without a token.
create index public_auth_mounts on login.auth_mounts (namespace_id, path collate "C")
  where attributes ->> 'listing_visibility' = 'unauth';
