/**
 * SQL for when a token expires, not considering its ancestors: in 1970 if the auth mount that issued it was disabled, and
 * never after its maximum, which is bound to it (`boundTokenColumns`), while the expiry is not.
 * That is looked up rather than written to each token, so that disabling a mount costs the same however many tokens it
 * issued.
 */
export const ownExpirySql = (token: string): string => `case
  when ${token}.mount_id is null or (select m.id from login.auth_mounts m where m.id = ${token}.mount_id) is not null
  then least(${token}.expires_at, ${token}.max_expires_at) else to_timestamp(0) end`;

/**
 * SQL for a row about the ancestors of a token: `expires_at`, their earliest expiry, null if none of them expires;
 * `count`; `accessors`; and `mounts`, the IDs of the auth mounts that issued them, with null for others. Both are null
 * if there are no ancestors. A token never outlives its parent (docs/conventions/access.md#token-lifetimes). The expiry
 * is looked up rather than copied because a renewal changes it, and because a revocation then updates a single row.
 */
export const ancestorsSql = (parentAccessor: string): string => `(
  with recursive ancestors as (
    select p.accessor, p.mount_id, p.parent_accessor, ${ownExpirySql('p')} as expires_at
    from login.tokens p where p.accessor = ${parentAccessor} and not p.orphans_children
    union all
    select p.accessor, p.mount_id, p.parent_accessor, ${ownExpirySql('p')}
    from ancestors a join login.tokens p on p.accessor = a.parent_accessor and not p.orphans_children
  ) select min(expires_at) as expires_at, count(*)::int as count, array_agg(accessor) as accessors, array_agg(mount_id) as mounts from ancestors
)`;

/** SQL for when a token expires: by itself or with its ancestors, whichever comes first; null if it does not. */
export const tokenExpirySql = (token: string): string =>
  `least(${ownExpirySql(token)}, (select expires_at from ${ancestorsSql(`${token}.parent_accessor`)} above))`;
