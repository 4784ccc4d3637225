-- For what is measured of rules: those with an error, and the one whose last complete run is longest ago.
create index rules_with_error on sync.rules (id) where error is not null;
create index rules_by_run on sync.rules ((coalesce(last_run_at, created_at))) where error is null and phase <> 'ending';
