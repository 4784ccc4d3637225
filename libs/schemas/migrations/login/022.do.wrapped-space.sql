-- The bytes of the wrapped responses of each namespace that has any, so that they can be limited without being counted.
create table login.wrapped_space (
  namespace_id text primary key, -- no foreign key, as in login.wrapped_responses
  bytes bigint not null
) with (fillfactor = 10); -- the page has room for new versions of the row, which then need no entry in the index
-- What a response counts: a rotation of the seal key may change its size. Null if an older version has stored it, which does not count it.
alter table login.wrapped_responses add column bytes bigint;
update login.wrapped_responses set bytes = octet_length(sealed);
insert into login.wrapped_space (namespace_id, bytes) select namespace_id, sum(bytes) from login.wrapped_responses group by namespace_id;

-- Whichever version and statement deletes responses frees their space, in the order of namespaces, so that two of them never wait for each other.
create function login.free_wrapped_space() returns trigger language plpgsql as $$
begin
  perform from login.wrapped_space where namespace_id in (select namespace_id from gone) order by namespace_id for update;
  update login.wrapped_space s set bytes = s.bytes - g.bytes
    from (select namespace_id, sum(bytes) as bytes from gone where bytes is not null group by namespace_id) g
    where s.namespace_id = g.namespace_id;
  delete from login.wrapped_space where bytes = 0 and namespace_id in (select namespace_id from gone);
  return null;
end $$;
create trigger free_wrapped_space after delete on login.wrapped_responses
  referencing old table as gone for each statement execute function login.free_wrapped_space();
