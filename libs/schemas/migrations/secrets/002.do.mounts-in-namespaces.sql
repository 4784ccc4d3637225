-- A namespace in which a mount stands cannot be deleted, and nothing is mounted in one that is gone, even when both are
-- asked for at one moment, of two services. A disabled mount stands no more, while its secrets are still being purged.
alter table secrets.mounts add column stands_in text
  generated always as (case when disabled_at is null then namespace_id end) stored;
alter table secrets.mounts add constraint mounts_stand_in_namespaces
  foreign key (stands_in) references login.namespaces not valid; -- not asked of what is there already
create index mounts_of_namespace on secrets.mounts (stands_in);
