import { Problem } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { exchange } from '../../verification/http/bounded-fetch.ts';
import { Outstanding } from '../../verification/http/outstanding.ts';
import type { TrustingFetches } from '../../verification/http/trusting-fetches.ts';
import type { ServiceAccount } from '../account/service-account.ts';
import { type KubernetesConfig, serverUrl } from '../config/config-settings.ts';
import { requireConfirmed, reviewPath, reviewRequest } from './review.ts';

/** Reviews for one auth mount at a time. */
const maxOutstanding = 32;

/** A token to be reviewed. */
export interface TokenToReview {
  /** The auth mount at which it is to log in. */
  mountId: string;
  token: Sealed<string>;
  account: ServiceAccount;
  audience: string;
  /** The token that may review others; undefined if the token reviews itself. */
  reviewerJwt: Sealed<string> | undefined;
}

/** Asks clusters whether tokens are valid, through the egress guard. */
export class Reviewer {
  readonly #fetches: TrustingFetches;
  readonly #outstanding = new Outstanding(maxOutstanding, 'too many tokens are being reviewed');

  constructor(fetches: TrustingFetches) {
    this.#fetches = fetches;
  }

  /**
   * Has a cluster confirm a token. Throws `forbidden` with what it does not confirm, `bad_gateway` if it does not accept the
   * reviewer, and what `exchange` throws.
   */
  async confirm(
    config: Pick<KubernetesConfig, 'kubernetes_host' | 'kubernetes_ca_cert'>,
    { mountId, token, account, audience, reviewerJwt }: TokenToReview,
  ): Promise<void> {
    const message = {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        authorization: `Bearer ${(reviewerJwt ?? token).reveal()}`,
      },
      body: reviewRequest(token.reveal(), audience),
    };
    const send = this.#fetches.trusting(config.kubernetes_ca_cert);
    const problemOf = (status: number) => refusalOf(status, reviewerJwt !== undefined);
    const answer = await this.#outstanding.run(mountId, () =>
      exchange(send, serverUrl(config, reviewPath), message, { expected: [200, 201], problemOf }),
    );
    requireConfirmed(await answer.text(), account, audience);
  }
}

/** The problem of a status with which an API server refuses whoever asks. */
function refusalOf(status: number, hasReviewer: boolean): Problem | undefined {
  if (status === 401)
    return hasReviewer
      ? new Problem('bad_gateway', 'the cluster does not accept token_reviewer_jwt')
      : new Problem('forbidden', 'the cluster does not accept the token, and there is no token_reviewer_jwt');
  if (status === 403)
    return hasReviewer
      ? new Problem('bad_gateway', 'token_reviewer_jwt belongs to an account that may not review tokens')
      : new Problem(
          'forbidden',
          'the service account may not review its own token, and there is no token_reviewer_jwt',
        );
  return undefined;
}
