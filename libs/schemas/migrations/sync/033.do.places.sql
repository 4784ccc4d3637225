-- Where the external secrets of a destination are, for types whose store does not show which destination wrote a secret: the ID that the provider
-- has given to it, and what distinguishes several places with that ID. Null before the first contact, and for all other types. The ID of an
-- environment is left out, because not all credentials may read it; a host name has at most 253 characters.
alter table sync.destinations add column place text generated always as (
  case when type = 'codehost' then
    lower(left(coalesce(settings ->> 'enterprise_url', ''), 300) || chr(10) || split_part(scope_id, '/', 1) || chr(10)
      || coalesce(settings ->> 'secrets_location', 'repository') || chr(10) || coalesce(settings ->> 'secrets_app', 'actions') || chr(10)
      || coalesce(settings ->> 'environment_name', ''))
  end) stored;
create index destinations_of_place on sync.destinations (place) where place is not null;

-- Destinations that have written the same external secrets until now push everything again: only one of them keeps each.
update sync.destinations d set push_initiated_at = now(), push_position = ''
 where d.place is not null and d.deleted_at is null and d.purge_initiated_at is null
   and exists (select from sync.destinations p
                 join sync.entries o on o.destination_id = p.id
                 join sync.entries e on e.destination_id = d.id and e.collision_key = o.collision_key
                where p.place = d.place and p.id <> d.id);
