import type { Sql } from '@secrets/db';

/** Ends the leases of replans and of the reconciliation. Only for the start of a process that is the only one: whoever held them is dead. */
export async function endBackgroundLeases(sql: Sql): Promise<void> {
  await sql.query(
    `update sync.destinations set replan_leased_until = '-infinity'
      where replan_initiated_at is not null and replan_leased_until > now()`,
  );
  await sql.query(
    `update sync.reconciliation set lease_owner = null, leased_until = '-infinity' where lease_owner is not null`,
  );
}
