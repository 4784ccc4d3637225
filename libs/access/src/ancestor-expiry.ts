/**
 * SQL for the earliest expiry of a token's parent, its parent, and so on; null when none of them expires. A child lives
 * no longer than its ancestors (decisions, section 2). An expiry can move, so it is looked up and not copied.
 */
export const ancestorExpirySql = (parentAccessor: string): string => `(
  with recursive ancestors as (
    select p.parent_accessor, p.expires_at from login.tokens p where p.accessor = ${parentAccessor}
    union all
    select p.parent_accessor, p.expires_at from ancestors a join login.tokens p on p.accessor = a.parent_accessor
  ) select min(expires_at) from ancestors
)`;
