import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';
import { type IssuerRow, lockIssuer } from '../queries/identity-issuer.ts';
import {
  deleteExpiredKeys,
  findKeySeconds,
  insertNextKey,
  promoteNextKey,
} from '../queries/identity-keys.ts';
import type { IdentityContext } from './identity-context.ts';
import { issuerNotConfigured } from './require-issuer.ts';
import { newSigningKey } from './signing-key.ts';

/**
 * Added to the time for which a retired key is published: a token that was being signed during the rotation is issued a little
 * later, and the clocks of those who verify it differ.
 */
const marginSeconds = 300;

/** For so long, the public documents may be cached. */
export const documentSeconds = 600;
/** For so long, a key is published before it signs: a minute longer, because copies are made and expire a little later. */
const leadSeconds = documentSeconds + 60;

/**
 * Lets the next key sign from now on. The one before stays published. Throws `not_found` if the issuer is not
 * configured, `conflict` while those who verify tokens may have a copy of the documents without the next key.
 */
export async function rotateKeys({ db, keyRing }: IdentityContext): Promise<void> {
  await db.transaction(async (tx) => {
    const issuer = await lockIssuer(tx);
    if (issuer === undefined) throw issuerNotConfigured();
    await requireKnownKey(tx);
    await rotateIn(tx, keyRing, issuer);
  });
}

async function requireKnownKey(tx: Tx): Promise<void> {
  const retryAfterSeconds = leadSeconds - ((await findKeySeconds(tx, 'next')) ?? leadSeconds);
  if (retryAfterSeconds <= 0) return;
  throw new Problem(
    'conflict',
    `those who verify tokens may not know the next key yet; try again in ${retryAfterSeconds} s`,
    { retryAfterSeconds },
  );
}

/** Rotates if the period of the key that signs is over, and deletes keys whose last token has expired. For repeated calls. */
export async function rotateDueKeys({ db, keyRing }: IdentityContext): Promise<void> {
  await db.transaction(async (tx) => {
    const issuer = await lockIssuer(tx); // another process waits here, and then finds nothing due
    if (issuer === undefined) return;
    const seconds = await findKeySeconds(tx, 'current');
    if (seconds === undefined || seconds >= issuer.rotationSeconds) await rotateIn(tx, keyRing, issuer);
    await deleteExpiredKeys(tx);
  });
}

/** Creates the first keys, if there are none: one that signs, and the next. */
export async function createFirstKeys(tx: Tx, keyRing: KeyRing, issuer: IssuerRow): Promise<void> {
  if ((await findKeySeconds(tx, 'current')) !== undefined) return;
  await insertNextKey(tx, await newSigningKey(keyRing));
  await rotateIn(tx, keyRing, issuer);
}

async function rotateIn(tx: Tx, keyRing: KeyRing, { verificationSeconds }: IssuerRow): Promise<void> {
  await promoteNextKey(tx, verificationSeconds + marginSeconds);
  await insertNextKey(tx, await newSigningKey(keyRing));
}
