-- A namespace that holds a destination cannot be deleted, and none is created in one that is gone, even when both are
-- asked for at one moment, of two services.
alter table sync.destinations add constraint destinations_stand_in_namespaces
  foreign key (namespace_id) references login.namespaces not valid; -- not asked of what is there already
