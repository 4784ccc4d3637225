import { Problem } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { type ClaimRule, decodeUnambiguous, requireRule } from '../../verification/verify-token.ts';
import { type Claims, type ServiceAccount, serviceAccountOf } from '../account/service-account.ts';
import { issuerOf } from '../config/config-settings.ts';
import type { KubernetesContext, ReadyKubernetesTarget } from '../kubernetes-context.ts';
import { accepted, confirm } from './confirm.ts';

const leewaySeconds = 60;

/** A service account, and the claims of the token that proves it. */
export interface Proven {
  account: ServiceAccount;
  claims: Claims;
  /** The hash of the public key that signed the token; undefined unless the configuration contains the key. */
  thumbprint: string | undefined;
}

/**
 * Proves that a token is that of a service account, for the audience of the role, and valid
 * (docs/conventions/kubernetes.md#verification). What the role binds is not looked at: who has no such token must not learn it.
 * Throws `invalid` if the token is malformed, `forbidden` with the failed check, `unavailable` and `bad_gateway`.
 */
export async function prove(
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  token: string,
  now: Date,
): Promise<Proven> {
  const claims = decodeUnambiguous(token, accepted);
  const account = serviceAccountOf(claims);
  requireRule(claims, times(now));
  const { isReviewed, thumbprint } = await confirm(context, target, { token: seal(token), account });
  requireExpiry(claims, isReviewed);
  requireRule(claims, issuer(issuerOf(target.config)));
  if (!isReviewed || claims.aud !== undefined) requireRule(claims, audience(target.role.audience));
  return { account, claims, thumbprint };
}

/** Throws `forbidden` if a token is accepted for ever, and the cluster has not confirmed it. */
export function requireExpiry({ exp }: Claims, isReviewed: boolean): void {
  if (!isReviewed && exp === undefined)
    throw new Problem('forbidden', 'the token does not expire, and no token_reviewer_jwt can confirm it');
}

export const times = (now: Date): ClaimRule => ({
  check: 'the times of the token are valid',
  claims: ['exp', 'nbf', 'iat'],
  options: { clockTolerance: leewaySeconds, currentDate: now },
});

export const issuer = (expected: string | undefined): ClaimRule => ({
  check: 'the token is of the issuer',
  claims: ['iss'],
  options: expected === undefined ? {} : { issuer: expected },
});

export const audience = (expected: string): ClaimRule => ({
  check: 'the token is for the audience',
  claims: ['aud'],
  options: { audience: expected },
});
