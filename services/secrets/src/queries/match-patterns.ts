/**
 * SQL condition: rules may match a path of a mount. The cost depends on the path alone: one lookup for each of its beginnings
 * (`beginningsOf`), which ends at the first row (docs/adr/0052-rules.md).
 */
export const isWatchedPath = (mountId: string, beginnings: string): string => `exists (
      select from unnest(${beginnings}) as b (beginning) cross join lateral (
        select from secrets.watched_patterns w where w.mount_id = ${mountId} and w.beginning = b.beginning limit 1) as found)`;
