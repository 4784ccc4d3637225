import { Problem } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { believedSettings } from '../../../rows/believed-settings.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
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

/** Returns whether the cluster has confirmed a token; otherwise one of its keys has signed the token. */
export async function confirm(
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  proof: TokenOf,
): Promise<boolean> {
  const isSigned = needsSignature(target.config) && (await isSignedByKey(context, target, proof.token));
  if (!needsReview(target.config, isSigned)) return false;
  await review(context, target, proof);
  return true;
}

type Sources = Pick<KubernetesConfig, 'pem_keys' | 'token_reviewer_jwt_set'>;

/** Whether a token is compared with keys first. */
export const needsSignature = ({ pem_keys, token_reviewer_jwt_set }: Sources): boolean =>
  pem_keys.length > 0 || !token_reviewer_jwt_set;

/** @param isSigned whether one of the keys has signed the token */
export const needsReview = ({ token_reviewer_jwt_set }: Sources, isSigned: boolean): boolean =>
  token_reviewer_jwt_set || !isSigned;

/** Returns false if there are no keys to compare a token with. Throws `forbidden` if none of them has signed it. */
export const isSignedByKey = (
  { clusterKeys }: KubernetesContext,
  { config, mountId }: ReadyKubernetesTarget,
  token: Sealed<string>,
): Promise<boolean> =>
  verifyTokenSignature(token.reveal(), clusterKeys.of(mountId, config), accepted).then(
    () => true,
    (error: unknown) => {
      if (error instanceof KeysNotPublished) return false;
      throw error;
    },
  );

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
