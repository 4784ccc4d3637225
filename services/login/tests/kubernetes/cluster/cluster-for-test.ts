import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { exportSPKI } from 'jose';
import { type Answer, send, sendStatus, tokenReview } from './answers.ts';
import { Authority, reviewerUid } from './authority.ts';
import { serverAudience, type TokenRequest } from './service-account-tokens.ts';
import { tokenRequestIn } from './token-request.ts';

/** A request that the API server has received. */
interface Received {
  method: string;
  path: string;
  bearer: string;
  body: string;
}

/**
 * An API server on a socket. It signs the tokens of service accounts as Kubernetes does, also on request, reviews them as
 * documented, and publishes its keys, if a test has it do so.
 */
export interface ClusterForTest {
  url: string;
  port: number;
  authority: Authority;
  /** Its public key. */
  pem: string;
  /** The token of a service account with the cluster role `system:auth-delegator`. */
  reviewerJwt: string;
  /** Issues the token of a pod. */
  issue(request?: TokenRequest): Promise<string>;
  /** Issues the token that is stored in a secret, without an expiry. */
  issueLegacy(request?: TokenRequest): Promise<string>;
  /** Deletes a pod or a service account by its ID, which ends its tokens. */
  remove(uid: string): void;
  /** Permits a service account to review tokens. */
  permitReviews(uid: string): void;
  /** Whether the keys are shown to everybody. By default, they are not. */
  publish(isPublished: boolean): void;
  /** Replaces the answers to reviews or for the key set, until `reset`. */
  answer(answers: Answers): void;
  reset(): void;
  received: Received[];
  stop(): Promise<void>;
}

interface Answers {
  review?: Answer;
  keys?: Answer;
}

/** The part of a cluster that its tests change. */
interface State {
  authority: Authority;
  received: Received[];
  answers: Answers;
  isPublished: boolean;
}

/** @param tls a key and a certificate in PEM, to be reached over TLS */
export async function startCluster(tls?: { key: string; cert: string }): Promise<ClusterForTest> {
  const state: State = {
    authority: await Authority.create(),
    received: [],
    answers: {},
    isPublished: false,
  };
  const server = tls === undefined ? createServer(listener(state)) : createTlsServer(tls, listener(state));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    pem: await exportSPKI(state.authority.keys.publicKey),
    reviewerJwt: await state.authority.issue(reviewer),
    ...controls(state),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const reviewer = {
  namespace: 'secrets',
  name: 'reviewer',
  uid: reviewerUid,
  pod: { name: 'reviewer-0', uid: '99999999-aaaa-4bbb-8ccc-000000000000' },
  audience: serverAudience,
};

const controls = (state: State) => ({
  authority: state.authority,
  received: state.received,
  issue: state.authority.issue,
  issueLegacy: state.authority.issueLegacy,
  remove: (uid: string) => void state.authority.removed.add(uid),
  permitReviews: (uid: string) => void state.authority.delegators.add(uid),
  publish: (isPublished: boolean) => void Object.assign(state, { isPublished }),
  answer: (answers: Answers) => void Object.assign(state, { answers }),
  reset: () => {
    Object.assign(state, { answers: {}, isPublished: false });
    state.authority.removed.clear();
    state.received.length = 0;
    state.authority.delegators.clear();
    state.authority.delegators.add(reviewerUid);
  },
});

/** A request that it cannot answer, such as one with a token that it never issues, must not end the tests. */
const listener =
  (state: State): RequestListener =>
  (request, response) =>
    void answered(state, request, response).catch(() => sendStatus(response, 500));

async function answered(
  state: State,
  request: Parameters<Answer>[0],
  response: Parameters<Answer>[1],
): Promise<void> {
  const bytes = await buffer(request);
  const body = bytes.toString();
  const bearer = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  state.received.push({ method: request.method!, path: request.url!, bearer, body });
  if (request.method === 'POST' && tokenRequest.test(request.url!))
    return issueToken(state.authority)(request.url!, bytes, response);
  const isReview = request.url === '/apis/authentication.k8s.io/v1/tokenreviews' && request.method === 'POST';
  const replaced = isReview ? state.answers.review : state.answers.keys;
  if (!isReview && request.url !== '/openid/v1/jwks') sendStatus(response, 404);
  else if (replaced !== undefined) replaced(request, response);
  else if (isReview) await review(state.authority)({ bearer, body }, response);
  else if (state.isPublished) send(response, 200, { keys: [state.authority.jwk] });
  else sendStatus(response, 403);
}

/** Where clients request the token of a service account. */
const tokenRequest = /^\/api\/v1\/namespaces\/([^/]+)\/serviceaccounts\/([^/]+)\/token$/;

const issueToken =
  (authority: Authority) => async (path: string, body: Buffer, response: Parameters<Answer>[1]) => {
    const [, namespace, name] = tokenRequest.exec(path) as unknown as [string, string, string];
    const spec = tokenRequestIn(body);
    const audience = spec.audiences ?? [serverAudience];
    const exp = Math.floor(Date.now() / 1_000) + (spec.expirationSeconds ?? 3_600);
    const token = await authority.issue({ namespace, name, audience, claims: { exp } });
    const status = { token, expirationTimestamp: new Date(exp * 1_000).toISOString() };
    send(response, 201, {
      kind: 'TokenRequest',
      apiVersion: tokenReview.apiVersion,
      metadata: {},
      spec,
      status,
    });
  };

const review =
  (authority: Authority) =>
  async ({ bearer, body }: Pick<Received, 'bearer' | 'body'>, response: Parameters<Answer>[1]) => {
    const refusal = await authority.refusal(bearer);
    if (refusal !== undefined) return sendStatus(response, refusal);
    const { spec } = JSON.parse(body) as { spec: { token: string; audiences?: string[] } };
    const status = await authority.statusOf(spec.token, spec.audiences);
    send(response, 201, { ...tokenReview, metadata: { creationTimestamp: null }, spec, status });
  };
