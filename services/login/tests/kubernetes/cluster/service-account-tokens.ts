import { randomUUID } from 'node:crypto';
import type { GenerateKeyPairResult, JWTPayload } from 'jose';

/** The service account of a pod, and how its token differs from the usual one. */
export interface TokenRequest {
  namespace?: string;
  name?: string;
  uid?: string;
  pod?: { name: string; uid: string };
  audience?: string | string[];
  /** Replaces claims; undefined removes one. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  keys?: GenerateKeyPairResult;
}

export const account = {
  namespace: 'shop',
  name: 'web',
  uid: '11111111-aaaa-4bbb-8ccc-222222222222',
  pod: { name: 'web-0', uid: '33333333-aaaa-4bbb-8ccc-444444444444' },
} as const;
export const audience = 'https://secrets.example';
/** The audience of the API server itself. */
export const serverAudience = 'https://kubernetes.default.svc.cluster.local';
const legacy = 'kubernetes.io/serviceaccount/';

/** Seconds since 1970. */
const secondsNow = (): number => Math.floor(Date.now() / 1_000);

/** The claims of the token of a pod, in the form that Kubernetes 1.32 has for them. */
export function boundClaims({
  namespace,
  name,
  uid,
  pod,
  audience: aud,
}: TokenRequest): Record<string, unknown> {
  const of = { namespace: account.namespace, name: account.name, ...defined({ namespace, name }) };
  return {
    aud: [aud ?? audience].flat(),
    exp: secondsNow() + 3_607,
    iat: secondsNow(),
    iss: serverAudience,
    jti: randomUUID(),
    'kubernetes.io': {
      namespace: of.namespace,
      node: { name: 'node-1', uid: '77777777-aaaa-4bbb-8ccc-888888888888' },
      pod: pod ?? account.pod,
      serviceaccount: { name: of.name, uid: uid ?? account.uid },
      warnafter: secondsNow() + 3_607,
    },
    nbf: secondsNow(),
    sub: `system:serviceaccount:${of.namespace}:${of.name}`,
  };
}

/** The claims of a token that is stored in a secret, without an expiry. */
export function legacyClaims({ namespace, name, uid }: TokenRequest): Record<string, unknown> {
  const of = { namespace: account.namespace, name: account.name, ...defined({ namespace, name }) };
  return {
    iss: 'kubernetes/serviceaccount',
    [`${legacy}namespace`]: of.namespace,
    [`${legacy}secret.name`]: `${of.name}-token-x7k2p`,
    [`${legacy}service-account.name`]: of.name,
    [`${legacy}service-account.uid`]: uid ?? account.uid,
    sub: `system:serviceaccount:${of.namespace}:${of.name}`,
  };
}

const defined = (given: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** The IDs of the service account and the pod of a token. */
export function idsIn(claims: JWTPayload): string[] {
  const own = claims['kubernetes.io'] as
    | { serviceaccount: { uid: string }; pod?: { uid: string } }
    | undefined;
  if (own === undefined) return [String(claims[`${legacy}service-account.uid`])];
  return [own.serviceaccount.uid, ...(own.pod === undefined ? [] : [own.pod.uid])];
}

/** A token without audiences is for the API server. */
export const audiencesOf = ({ aud }: JWTPayload): string[] => [aud ?? serverAudience].flat();

/** The user that an API server has for a token. */
export function userOf(claims: JWTPayload) {
  const namespace = claims.sub!.split(':')[2];
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { username: claims.sub, uid: idsIn(claims)[0], groups };
}
