-- Mounts that are listed to everybody, without a token.
create index public_mounts on secrets.mounts (namespace_id, path)
  where attributes ->> 'listing_visibility' = 'unauth' and disabled_at is null;
