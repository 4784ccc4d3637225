/**
 * SQL for the earliest end of a token's parent, its parent, and so on; null when none of them ends. A child lives no
 * longer than its parent (docs/conventions.md#22-token-lifetimes). Renewals move an end, so it is looked up and not copied.
 */
export const ancestorExpirySql = (parentAccessor: string): string => `(
  with recursive ancestors as (
    select p.parent_accessor, p.expires_at from login.tokens p where p.accessor = ${parentAccessor}
    union all
    select p.parent_accessor, p.expires_at from ancestors a join login.tokens p on p.accessor = a.parent_accessor
  ) select min(expires_at) from ancestors
)`;
