-- To list what has drifted in a destination. A look that finds no drift changes no column of it.
create index entries_by_drift on sync.entries (destination_id, drift, association_id, sub_key) where drift <> 'none';
