import { Problem } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { believedSettings } from '../../../rows/believed-settings.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
import { thumbprintOf } from '../../verification/keys/static-keys.ts';
import { type AcceptedSignatures, verifyTokenSignature } from '../../verification/verify-token.ts';
import type { ServiceAccount } from '../account/service-account.ts';
import { KeysNotPublished } from '../cluster/cluster-keys.ts';
import { type KubernetesConfig, readKubernetesConfig } from '../config/config-settings.ts';
import { decryptReviewer } from '../config/reviewer-jwt.ts';
import type { KubernetesContext, ReadyKubernetesTarget } from '../kubernetes-context.ts';
import { kubernetesTables } from '../kubernetes-tables.ts';
import { findKubernetesConfig } from '../queries/configs.ts';

/** A cluster signs with RS256 or ES256 to ES512, but may have a signer of its own. */
export const accepted: AcceptedSignatures = {
  algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
  needsKeyId: false,
};

/** A token, and the service account in its claims. */
export interface TokenOf {
  token: Sealed<string>;
  account: ServiceAccount;
}

/** The confirmation of a token. */
interface Confirmed {
  /** Whether the cluster did; otherwise one of its keys signed the token. */
  isReviewed: boolean;
  /** The hash of the public key that signed the token; undefined unless the configuration contains the key. */
  thumbprint: string | undefined;
}

/** Has a token confirmed by its signature, by the cluster, or by both, as the configuration says. */
export async function confirm(
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  proof: TokenOf,
): Promise<Confirmed> {
  const key = needsSignature(target.config) ? await signingKey(context, target, proof.token) : undefined;
  const thumbprint = key && thumbprintOf(key);
  const isReviewed = needsReview(target.config, key !== undefined);
  if (isReviewed) await review(context, target, proof);
  return { isReviewed, thumbprint };
}

type Sources = Pick<KubernetesConfig, 'pem_keys' | 'token_reviewer_jwt_set'>;

/** Whether a token is compared with keys first. */
export const needsSignature = ({ pem_keys, token_reviewer_jwt_set }: Sources): boolean =>
  pem_keys.length > 0 || !token_reviewer_jwt_set;

/** @param isSigned whether one of the keys has signed the token */
export const needsReview = ({ token_reviewer_jwt_set }: Sources, isSigned: boolean): boolean =>
  token_reviewer_jwt_set || !isSigned;

/** The key that signed a token; undefined if there are no keys to compare it with. Throws `forbidden` if none of them did. */
export const signingKey = (
  { clusterKeys }: KubernetesContext,
  { config, mountId }: ReadyKubernetesTarget,
  token: Sealed<string>,
): Promise<object | undefined> =>
  verifyTokenSignature(token.reveal(), clusterKeys.of(mountId, config), accepted).catch((error: unknown) => {
    if (error instanceof KeysNotPublished) return undefined;
    throw error;
  });

/** Has the cluster confirm a token, as the reviewer, or as the token itself if there is none. Throws what `Reviewer` does. */
export const review = (
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  proof: TokenOf,
): Promise<void> =>
  target.config.token_reviewer_jwt_set
    ? reviewByReviewer(context, target, proof)
    : context.reviewer.confirm(target.config, {
        ...proof,
        mountId: target.mountId,
        audience: target.role.audience,
        reviewerJwt: undefined,
      });

/** Reads host and reviewer together: after a change, the new reviewer must not be sent to the former host. */
async function reviewByReviewer(
  { db, rows, keyRing, reviewer }: KubernetesContext,
  { mountId, role }: ReadyKubernetesTarget,
  proof: TokenOf,
): Promise<void> {
  const row = await findKubernetesConfig(db, mountId);
  if (row === undefined || row.sealedReviewer === null)
    throw new Problem('unavailable', 'the configuration of this auth mount is changing; try again');
  const settings = believedSettings(rows, configKey(kubernetesTables.configs, mountId), row);
  await reviewer.confirm(readKubernetesConfig(settings), {
    ...proof,
    mountId,
    audience: role.audience,
    reviewerJwt: decryptReviewer(keyRing, mountId, row.sealedReviewer),
  });
}
