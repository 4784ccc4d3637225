-- Secrets that have no version yet, because their store does not return the value. The first version that somebody writes is pushed,
-- for the caller that has imported the name, who is sealed in the row.
create table sync.awaited_values (
  id uuid primary key,
  destination_id uuid not null references sync.destinations on delete cascade,
  secret_id uuid not null,
  seen_revision bigint not null, -- of the secret, when it was last looked at
  sealed_request bytea not null,
  import_id uuid not null, -- the import and its line that shows what becomes of it, while there is one
  line integer not null,
  unique (destination_id, secret_id)
);

alter table sync.import_lines drop constraint import_lines_association_check,
  add constraint import_lines_association_check check (association in ('requested', 'awaited', 'associated', 'refused'));
