import { type Caller, requireGrant } from '@secrets/caller';
import { type IssuerRow, lockIssuer, upsertIssuer } from '../queries/identity-issuer.ts';
import type { IdentityContext } from './identity-context.ts';
import { type IssuerBody, mergedIssuer } from './issuer-settings.ts';
import { createFirstKeys } from './rotate-keys.ts';

/** Merges a request into the configuration of the issuer, and creates its first keys. Throws `invalid` if the result has no issuer. */
export async function saveIssuer(
  { db, keyRing }: IdentityContext,
  caller: Caller,
  body: IssuerBody,
): Promise<IssuerRow> {
  return db.transaction(async (tx) => {
    const stored = await lockIssuer(tx);
    requireGrant(caller, stored !== undefined);
    const row = mergedIssuer(stored, body);
    await upsertIssuer(tx, row);
    await createFirstKeys(tx, keyRing, row);
    return row;
  });
}
