import type { Sql } from '@secrets/db';
import { beforeFirst } from '../associations/association-pages.ts';

/**
 * Ends the leases of replans, imports and rules, sends the pages of looks again, and begins a round of the reconciliation. Only
 * for the start of a process that runs alone and has its queues in memory: every holder of a lease is dead, and messages may be
 * lost.
 */
export async function restartBackgroundWork(sql: Sql): Promise<void> {
  await sql.query(
    `update sync.destinations set replan_leased_until = '-infinity'
      where replan_initiated_at is not null and replan_leased_until > now()`,
  );
  await sql.query('update sync.inspections set page_id = null, due_at = now() where page_id is not null');
  await sql.query('update sync.imports set due_at = now() where fence is not null');
  await sql.query('update sync.rules set due_at = now() where fence is not null');
  await sql.query(
    `update sync.reconciliation
        set lease_owner = null, leased_until = '-infinity', running = false, position = $1, started_at = 'epoch'`,
    [beforeFirst],
  );
}
