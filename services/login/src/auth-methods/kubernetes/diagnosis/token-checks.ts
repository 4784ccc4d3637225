import { seal } from '@secrets/seal';
import { attempt, attemptAsync } from '../../diagnosis/attempt.ts';
import { type Check, check, unreached } from '../../roles/check.ts';
import {
  type ClaimRule,
  decodeUnambiguous,
  requireRule,
  unverifiedHeader,
} from '../../verification/verify-token.ts';
import { type Claims, type ServiceAccount, serviceAccountOf } from '../account/service-account.ts';
import { issuerOf } from '../config/config-settings.ts';
import type { KubernetesContext, ReadyKubernetesTarget } from '../kubernetes-context.ts';
import { accepted, needsReview, needsSignature, review, signingKey } from '../login/confirm.ts';
import { audience, issuer, requireExpiry, times } from '../login/prove.ts';

/** The checks of a token whatever the role binds, with what can be read of it. */
export interface TokenDiagnosis {
  checks: Check[];
  header: object;
  claims?: Claims;
  account?: ServiceAccount | undefined;
}

const named = 'the JWT names a service account';
const confirmed = 'the cluster confirms the JWT';

/** Checks a token as a login does, but continues after a check that failed. */
export async function diagnoseToken(
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  token: string,
): Promise<TokenDiagnosis> {
  const { value: claims, reason } = attempt(() => decodeUnambiguous(token, accepted));
  const form = check('the JWT is well-formed', 'jwt', reason);
  if (claims === undefined)
    return { checks: [form, unreached(named, 'kubernetes.io'), unreached(confirmed, 'jwt')], header: {} };
  const { value: account, reason: unnamed } = attempt(() => serviceAccountOf(claims));
  const confirmation = await confirmationOf(context, target, token, account);
  const rule = (one: ClaimRule) =>
    check(one.check, one.claims.join(', '), attempt(() => requireRule(claims, one)).reason);
  const needsAudience = !confirmation.isReviewed || claims.aud !== undefined;
  const expiry = attempt(() => requireExpiry(claims, confirmation.isReviewed));
  const checks = [
    form,
    check(named, 'kubernetes.io, sub', unnamed),
    rule(times(new Date(context.db.now()))),
    ...confirmation.checks,
    check('the JWT expires, or the cluster has confirmed it', 'exp', expiry.reason),
    rule(issuer(issuerOf(target.config))),
    ...(needsAudience ? [rule(audience(target.role.audience))] : []),
  ];
  return { checks, header: unverifiedHeader(token), claims, account };
}

interface Confirmation {
  checks: Check[];
  /** Whether a login needs a review, be it of this token or not. */
  isReviewed: boolean;
}

/** Has a token confirmed as for a login, but also reviewed if none of the keys has signed it. */
async function confirmationOf(
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  token: string,
  account: ServiceAccount | undefined,
): Promise<Confirmation> {
  const { config } = target;
  const sealed = seal(token);
  const signed = needsSignature(config) ? await attemptAsync(signingKey(context, target, sealed)) : undefined;
  const isMissing = signed !== undefined && signed.reason === undefined && signed.value === undefined; // the cluster does not show its keys
  const ofKeys =
    signed === undefined || isMissing
      ? []
      : [check('a key of the cluster signed the JWT', 'alg, kid', signed.reason)];
  if (!needsReview(config, !isMissing)) return { checks: ofKeys, isReviewed: false };
  if (account === undefined) return { checks: [...ofKeys, unreached(confirmed, 'jwt')], isReviewed: true };
  const { reason } = await attemptAsync(review(context, target, { token: sealed, account }));
  return { checks: [...ofKeys, check(confirmed, 'jwt', reason)], isReviewed: true };
}
