import type { Caller } from '@secrets/caller';
import type { AccessToken } from '../tokens/access-token.ts';

/** Who sends a request, wherever it takes place. */
export type Sender = Omit<Caller, 'namespace' | 'grants'>;

type Origin = Pick<Sender, 'requestId' | 'remoteAddress'>;

/** Returns the sender of a request without a token, or with one that is not known yet. */
export const anonymousSender = ({ requestId, remoteAddress }: Origin): Sender => ({
  requestId,
  accessor: null,
  tokenType: null,
  displayName: '',
  entityId: null,
  policies: [],
  identityPolicies: [],
  tokenExpiresAt: null,
  tokenNamespace: { id: 'root', path: '' },
  remoteAddress,
});

/** Returns the sender of a request with a token. */
export const identifiedSender = (token: AccessToken, { requestId, remoteAddress }: Origin): Sender => ({
  requestId,
  accessor: token.accessor,
  tokenType: token.tokenType,
  displayName: token.displayName,
  entityId: token.entityId,
  policies: token.policies,
  identityPolicies: token.identityPolicies,
  tokenExpiresAt: token.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString(),
  tokenNamespace: token.namespace,
  remoteAddress,
});
