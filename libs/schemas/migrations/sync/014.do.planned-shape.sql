-- What the names of an association's external secrets follow until it is planned again. Null: as its destination says now.
alter table sync.associations add column template text, add column granularity text;
