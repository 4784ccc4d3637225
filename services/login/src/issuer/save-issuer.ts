import { type Caller, requireGrant } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import {
  deleteIssuer,
  type IssuerRow,
  insertIssuer,
  lockIssuer,
  updateIssuer,
} from '../queries/identity-issuer.ts';
import type { IdentityContext } from './identity-context.ts';
import { type IssuerBody, mergedIssuer } from './issuer-settings.ts';
import { createFirstKeys } from './rotate-keys.ts';

/** Removes the configuration of the issuer, so that no identity tokens are issued. Its keys are kept for the next one. */
export const removeIssuer = ({ db }: IdentityContext, caller: Caller): Promise<void> =>
  db.transaction(async (tx) => {
    requireGrant(caller, (await lockIssuer(tx)) !== undefined);
    await deleteIssuer(tx);
  });

/**
 * Merges a request into the configuration of the issuer, and creates its first keys. Throws `invalid` if the result has
 * no issuer.
 */
export async function saveIssuer(
  { db, keyRing }: IdentityContext,
  caller: Caller,
  body: IssuerBody,
): Promise<IssuerRow> {
  return db.transaction(async (tx) => {
    const row = (await insertFirst(tx, caller, body)) ?? (await change(tx, caller, body));
    await createFirstKeys(tx, keyRing, row);
    return row;
  });
}

/**
 * Undefined if there is a configuration, also if another request stores it at the same time: both have the fields that
 * they set.
 */
async function insertFirst(tx: Tx, caller: Caller, body: IssuerBody): Promise<IssuerRow | undefined> {
  if ((await lockIssuer(tx)) !== undefined) return undefined;
  requireGrant(caller, false);
  const row = mergedIssuer(undefined, body);
  return (await insertIssuer(tx, row)) ? row : undefined;
}

async function change(tx: Tx, caller: Caller, body: IssuerBody): Promise<IssuerRow> {
  requireGrant(caller, true);
  const row = mergedIssuer(await lockIssuer(tx), body);
  await updateIssuer(tx, row);
  return row;
}
