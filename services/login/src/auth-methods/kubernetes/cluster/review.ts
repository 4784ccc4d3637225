import { Problem, parsedJson, repeatedName } from '@secrets/domain';
import { z } from 'zod';
import { type ServiceAccount, userNameOf } from '../account/service-account.ts';

const apiVersion = 'authentication.k8s.io/v1';
const kind = 'TokenReview';

/** Path of the resource: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1 */
export const reviewPath = `/apis/${apiVersion}/tokenreviews`;

/** The request for the review of a token, for one audience. */
export const reviewRequest = (token: string, audience: string): string =>
  JSON.stringify({ apiVersion, kind, spec: { token, audiences: [audience] } });

const text = z.string().max(2_048);
const Review = z.object({
  apiVersion: z.literal(apiVersion),
  kind: z.literal(kind),
  status: z.object({
    authenticated: z.boolean().default(false),
    error: text.default(''),
    audiences: z.array(text).max(100).default([]),
    user: z.object({ username: text.default(''), uid: text.default('') }).prefault({}),
  }),
});

const forbidden = (sentence: string): Problem => new Problem('forbidden', sentence);

/**
 * Throws `forbidden` unless a review confirms that a token is that of a service account, for an audience, and `bad_gateway` if it
 * is not a review.
 */
export function requireConfirmed(answer: string, account: ServiceAccount, audience: string): void {
  const { data } = Review.safeParse(parsedJson(answer));
  if (data === undefined || repeatedName(answer) !== undefined)
    throw new Problem('bad_gateway', 'the directory returned something that is not a TokenReview');
  const { authenticated, error, audiences, user } = data.status;
  if (!authenticated || error !== '') throw forbidden('the cluster does not accept the token');
  if (user.username !== userNameOf(account) || user.uid !== account.uid)
    throw forbidden('the cluster knows the token as that of another user than its claims say');
  if (!audiences.includes(audience))
    throw forbidden("the cluster does not confirm that the token is for the role's audience");
}
