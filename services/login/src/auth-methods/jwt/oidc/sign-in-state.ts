import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from '@secrets/domain';
import { decrypt, encrypt, type KeyRing } from '@secrets/seal';
import { z } from 'zod';
import type { JwtConfig } from '../config/config-settings.ts';

/** Time that a user has at the provider. */
export const signInSeconds = 300;

/** A sign-in that was begun, as the callback completes it. */
const SignIn = z.object({
  role: z.string(),
  redirectUri: z.string(),
  /** Hash of the provider and the client that the mount was at it. */
  provider: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** Hash of a value that only the client which has begun the sign-in knows. */
  client: z.string(),
  /** Milliseconds since 1970. */
  expiresAtMs: z.number(),
});
export type SignIn = z.infer<typeof SignIn>;

const aadOf = (mountId: string): string => `login oidc state ${mountId}`;

/** Ties a sign-in to the provider at which it begins: neither its code nor its code verifier is for another one. */
export const providerHash = ({
  oidc_discovery_url,
  oidc_client_id,
}: Pick<JwtConfig, 'oidc_discovery_url' | 'oidc_client_id'>): string =>
  hashOf(JSON.stringify([oidc_discovery_url, oidc_client_id]));

/** Ties a sign-in to the client that begins it. */
export const clientHash = (clientNonce: string): string => hashOf(clientNonce);

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * Encrypts a sign-in as the `state` that the provider returns. Any replica can complete it, and nothing is stored for a sign-in
 * that is only begun: whoever begins many takes up no space.
 */
export const stateOf = (keyRing: KeyRing, mountId: string, signIn: SignIn): string =>
  encrypt(keyRing, aadOf(mountId), Buffer.from(JSON.stringify(signIn))).toString('base64url');

/**
 * Returns the sign-in of a state.
 * @throws a problem (`forbidden`) if it is not of this mount and client, or has expired
 */
export function signInOf(
  keyRing: KeyRing,
  mountId: string,
  { state, clientNonce, nowMs }: { state: string; clientNonce: string; nowMs: number },
): SignIn {
  const signIn = opened(keyRing, mountId, state);
  const [given, expected] = [clientHash(clientNonce), signIn.client].map((hash) => Buffer.from(hash));
  if (given!.length !== expected!.length || !timingSafeEqual(given!, expected!))
    throw new Problem('forbidden', 'client_nonce: another client has begun this sign-in');
  if (nowMs >= signIn.expiresAtMs)
    throw new Problem('forbidden', 'state: the sign-in took longer than five minutes; begin again');
  return signIn;
}

function opened(keyRing: KeyRing, mountId: string, state: string): SignIn {
  try {
    const text = decrypt(keyRing, aadOf(mountId), Buffer.from(state, 'base64url')).toString();
    return SignIn.parse(JSON.parse(text));
  } catch {
    throw new Problem('forbidden', 'state: was not issued by this auth mount');
  }
}
