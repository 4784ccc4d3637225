/**
 * SQL: the revision of the secret `s` after a change. It increases with every change, and is the time in microseconds,
 * so that none is used again for another change after a failover or a restore that lost the first one.
 */
export const nextRevision =
  'greatest(s.revision + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)';
