-- The server that the private key of an application is for: as in `enterprise_url` of its destinations, empty for the public service.
-- No destination at another server may use it, because whoever receives the signature of an application can act as it.
alter table sync.codehost_apps add column enterprise_url text not null default '';
