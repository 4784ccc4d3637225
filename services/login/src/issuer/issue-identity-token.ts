import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { findSigningKey } from '../queries/identity-keys.ts';
import type { IdentityContext } from './identity-context.ts';
import { issuerOf } from './issuer-settings.ts';
import { issuerNotConfigured, requireIssuer } from './require-issuer.ts';
import { algorithm, openSigningKey } from './signing-key.ts';

/** Whom a token is about, for whom it is, and for how long. */
export interface IdentityTokenRequest {
  subject: string;
  audience: string;
  /** At most `identityTokenSeconds.most`. */
  ttlSeconds: number;
}

/**
 * Signs an identity token. Who may have a token with which subject is decided by the caller of this function. Throws
 * `not_found` if the issuer is not configured.
 *
 * The key is read for each token, so that no process signs with a retired one, and the time is that of the same
 * statement: whatever the clock of this process says, the token expires before its key is withdrawn.
 */
export async function issueIdentityToken(
  { db, keyRing }: IdentityContext,
  { subject, audience, ttlSeconds }: IdentityTokenRequest,
): Promise<{ token: string; id: string }> {
  const issuer = issuerOf(await requireIssuer(db));
  const key = await findSigningKey(db);
  if (key === undefined) throw issuerNotConfigured();
  const id = randomUUID();
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: key.id })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(audience)
    .setIssuedAt(key.now)
    .setExpirationTime(key.now + ttlSeconds)
    .setJti(id)
    .sign(await openSigningKey(keyRing, key));
  return { token, id };
}
