/**
 * SQL for the earliest expiry among a token's ancestors; null if none of them expires. A token never outlives its parent
 * (docs/conventions.md#22-token-lifetimes). The expiry is looked up rather than copied because a renewal changes it.
 */
export const ancestorExpirySql = (parentAccessor: string): string => `(
  with recursive ancestors as (
    select p.parent_accessor, p.expires_at from login.tokens p where p.accessor = ${parentAccessor}
    union all
    select p.parent_accessor, p.expires_at from ancestors a join login.tokens p on p.accessor = a.parent_accessor
  ) select min(expires_at) from ancestors
)`;
