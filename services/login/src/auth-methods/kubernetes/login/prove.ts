import { Problem } from '@secrets/domain';
import { type Sealed, seal } from '@secrets/seal';
import {
  type AcceptedSignatures,
  type ClaimRule,
  decodeUnambiguous,
  requireRule,
  verifyTokenSignature,
} from '../../verification/verify-token.ts';
import { type Claims, type ServiceAccount, serviceAccountOf } from '../account/service-account.ts';
import { KeysNotPublished } from '../cluster/cluster-keys.ts';
import { issuerOf, readKubernetesConfig } from '../config/config-settings.ts';
import { decryptReviewer } from '../config/reviewer-jwt.ts';
import type { KubernetesContext, ReadyKubernetesTarget } from '../kubernetes-context.ts';
import { findKubernetesConfig } from '../queries/configs.ts';

/** A cluster signs with RS256 or ES256 to ES512, but may have a signer of its own. */
const accepted: AcceptedSignatures = {
  algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
  needsKeyId: false,
};

const leewaySeconds = 60;

/** A service account, and the claims of the token that proves it. */
export interface Proven {
  account: ServiceAccount;
  claims: Claims;
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
  const isReviewed = await confirm(context, target, { token: seal(token), account });
  if (!isReviewed && claims.exp === undefined)
    throw new Problem('forbidden', 'the token does not expire, and no token_reviewer_jwt can confirm it');
  requireRule(claims, issuer(issuerOf(target.config)));
  if (!isReviewed || claims.aud !== undefined) requireRule(claims, audience(target.role.audience));
  return { account, claims };
}

/** Returns whether the cluster has confirmed the token; otherwise one of its keys has signed the token. */
async function confirm(
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  proof: TokenOf,
): Promise<boolean> {
  const { config, mountId } = target;
  const hasKeys = config.pem_keys.length > 0;
  const signed = () =>
    verifyTokenSignature(proof.token.reveal(), context.clusterKeys.of(mountId, config), accepted);
  if (hasKeys) await signed();
  if (config.token_reviewer_jwt_set) {
    await reviewByReviewer(context, target, proof);
    return true;
  }
  if (hasKeys || (await unlessUnpublished(signed))) return false;
  await context.reviewer.confirm(config, {
    ...proof,
    audience: target.role.audience,
    reviewerJwt: undefined,
  });
  return true;
}

/** A token, and the service account in its claims. */
interface TokenOf {
  token: Sealed<string>;
  account: ServiceAccount;
}

/** Returns whether the cluster shows the keys that the work needs. */
const unlessUnpublished = (work: () => Promise<void>): Promise<boolean> =>
  work().then(
    () => true,
    (error: unknown) => {
      if (error instanceof KeysNotPublished) return false;
      throw error;
    },
  );

/** Reads host and reviewer together: after a change, the new reviewer must not be sent to the former host. */
async function reviewByReviewer(
  { db, keyRing, reviewer }: KubernetesContext,
  { mountId, role }: ReadyKubernetesTarget,
  proof: TokenOf,
): Promise<void> {
  const row = await findKubernetesConfig(db, mountId);
  if (row === undefined || row.sealedReviewer === null)
    throw new Problem('unavailable', 'the configuration of this auth mount is changing; try again');
  await reviewer.confirm(readKubernetesConfig(row.settings), {
    ...proof,
    audience: role.audience,
    reviewerJwt: decryptReviewer(keyRing, mountId, row.sealedReviewer),
  });
}

const times = (now: Date): ClaimRule => ({
  check: 'the times of the token are valid',
  claims: ['exp', 'nbf', 'iat'],
  options: { clockTolerance: leewaySeconds, currentDate: now },
});

const issuer = (expected: string | undefined): ClaimRule => ({
  check: 'the token is of the issuer',
  claims: ['iss'],
  options: expected === undefined ? {} : { issuer: expected },
});

const audience = (expected: string): ClaimRule => ({
  check: 'the token is for the audience',
  claims: ['aud'],
  options: { audience: expected },
});
