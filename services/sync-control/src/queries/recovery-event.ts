import type { Sql } from '@secrets/db';

/** Records that an operator has created a recovery token, for those who follow the live events. */
export async function recordRecoveryToken(sql: Sql): Promise<void> {
  await sql.query(`insert into sync.events (kind) values ('recovery_token_created')`);
}
