-- What the newest changes of access concern, by their number in login.access_epoch, so that caches drop only that. A change without a row, as
-- of the previous version, concerns everything.
create table login.access_changes (
  epoch bigint primary key,
  concerns text[] not null -- the names are in libs/access/src/changes/concerns.ts
);

-- The size of a policy, so that the sum of a token's policies is known without reading them.
alter table login.policies
  add column path_count integer not null
    generated always as (coalesce(jsonb_array_length(rules->'paths'), 0)) stored,
  add column plus_path_count integer not null
    generated always as (coalesce(jsonb_array_length(
      jsonb_path_query_array(rules, '$.paths[*].path ? (@ like_regex "(^|/)\\+(/|$)")')), 0)) stored;
