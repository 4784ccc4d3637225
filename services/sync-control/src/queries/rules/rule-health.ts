import type { Sql } from '@secrets/db';

/** The state of all rules together. */
export interface RuleHealth {
  /** Rules with an error, and refused secrets, each counted up to a limit. */
  withErrors: number;
  refusals: number;
  /** For how long the first due rule has been due; 0 if none is. */
  oldestDueSeconds: number;
  /** Since when the rule without an error whose last complete run is longest ago has had none, or existed; 0 without rules. */
  oldestRunSeconds: number;
}

export async function readRuleHealth(sql: Sql, limit: number): Promise<RuleHealth> {
  const [row] = await sql.query<RuleHealth>(
    `select (select count(*) from (select from sync.rules where error is not null limit $1) as broken) as "withErrors",
            (select count(*) from (select from sync.rule_refusals limit $1) as refused) as refusals,
            coalesce((select extract(epoch from now() - due_at)::float8 from sync.rules
              where due_at <= now() order by due_at limit 1), 0) as "oldestDueSeconds",
            coalesce((select extract(epoch from now() - coalesce(last_run_at, created_at))::float8 from sync.rules
              where error is null and phase <> 'ending' order by coalesce(last_run_at, created_at) limit 1), 0) as "oldestRunSeconds"`,
    [limit],
  );
  return row!;
}
