import type { Sql } from '@secrets/db';
import { type Holders, listHolders } from '../../queries/rules/rule-holds.ts';

/** Rules that are shown as holders of an association. */
const maxRules = 20;

/** The holders of an association (docs/conventions/rules.md#what-holds-an-association). */
export interface Held {
  heldBy: Pick<Holders, 'byHand' | 'rules'>;
}

/** Adds what holds each association; nothing if it no longer exists. */
export async function withHolders<Association extends { id: string }>(
  sql: Sql,
  associations: readonly Association[],
): Promise<(Association & Held)[]> {
  const ids = associations.map(({ id }) => id);
  const holders = new Map((await listHolders(sql, ids, maxRules)).map((one) => [one.associationId, one]));
  return associations.map((association) => ({
    ...association,
    heldBy: holders.get(association.id) ?? heldByNothing,
  }));
}

export const heldByNothing: Held['heldBy'] = { byHand: false, rules: [] };

/** Adds what holds an association, like `withHolders`. */
export async function withHoldersOf<Association extends { id: string }>(
  sql: Sql,
  association: Association,
): Promise<Association & Held> {
  const [held] = await withHolders(sql, [association]);
  return held!;
}
