import type { Db } from '@secrets/db';
import { readRuleHealth } from '../queries/rules/rule-health.ts';
import type { SyncMetrics } from './sync-metrics.ts';

const maxCounted = 10_000;

/** Measures the rules: those that cannot continue, what they have refused, and how late they are. */
export async function measureRules(db: Db, { rules }: SyncMetrics): Promise<void> {
  const { withErrors, refusals, oldestDueSeconds, oldestRunSeconds } = await readRuleHealth(db, maxCounted);
  rules.withErrors.set(withErrors);
  rules.refusals.set(refusals);
  rules.oldestDue.set(oldestDueSeconds);
  rules.oldestRun.set(oldestRunSeconds);
}
