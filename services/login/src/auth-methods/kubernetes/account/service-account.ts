import { Problem, withoutControl } from '@secrets/domain';
import { z } from 'zod';

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/** The service account that a token is for. */
export interface ServiceAccount {
  namespace: string;
  name: string;
  uid: string;
  /** The secret that holds the token; empty for a token without one. */
  secretName: string;
}

/** Names of objects: RFC 1123. None has a colon, which separates them in `sub`. */
const name = z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/);
const uid = z.string().min(1).max(128).regex(withoutControl);

/** Claims of a token with an expiry: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin */
const Bound = z.object({
  namespace: name,
  serviceaccount: z.object({ name, uid }),
  secret: z.object({ name }).optional(),
});

const legacy = 'kubernetes.io/serviceaccount/';

/** Claims of a token that is stored in a secret. */
const Legacy = z.object({
  [`${legacy}namespace`]: name,
  [`${legacy}service-account.name`]: name,
  [`${legacy}service-account.uid`]: uid,
  [`${legacy}secret.name`]: name,
});

const forbidden = (sentence: string): Problem => new Problem('forbidden', sentence);

/**
 * The service account in the claims of a token. Throws `forbidden` if they name none, or name it in two forms, or `sub` is
 * another subject.
 */
export function serviceAccountOf(claims: Claims): ServiceAccount {
  const hasLegacy = Object.keys(claims).some((claim) => claim.startsWith(legacy));
  if (hasLegacy && Object.hasOwn(claims, 'kubernetes.io'))
    throw forbidden('the token names its service account in two ways');
  const account = hasLegacy ? legacyAccount(claims) : boundAccount(claims);
  if (account === undefined) throw forbidden('the token is not that of a service account');
  if (claims.sub !== userNameOf(account))
    throw forbidden("the token's sub is not the service account that its other claims name");
  return account;
}

/** The user name that a cluster has for a service account. */
export const userNameOf = ({ namespace, name }: ServiceAccount): string =>
  `system:serviceaccount:${namespace}:${name}`;

function boundAccount(claims: Claims): ServiceAccount | undefined {
  const own = Object.hasOwn(claims, 'kubernetes.io') ? claims['kubernetes.io'] : undefined;
  const { data } = Bound.safeParse(own);
  return data && { namespace: data.namespace, ...data.serviceaccount, secretName: data.secret?.name ?? '' };
}

function legacyAccount(claims: Claims): ServiceAccount | undefined {
  const { data } = Legacy.safeParse(claims);
  return (
    data && {
      namespace: data[`${legacy}namespace`],
      name: data[`${legacy}service-account.name`],
      uid: data[`${legacy}service-account.uid`],
      secretName: data[`${legacy}secret.name`],
    }
  );
}
