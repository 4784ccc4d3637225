import type { Caller, Namespace } from '@secrets/caller';
import type { AccessToken } from './tokens/access-token.ts';

export const rootNamespace: Namespace = { id: 'root', path: '' };

/** The caller of a request of which nothing is known yet but where it comes from. */
export const anonymousCaller = ({
  requestId,
  remoteAddress,
}: Pick<Caller, 'requestId' | 'remoteAddress'>): Caller => ({
  requestId,
  accessor: null,
  tokenType: null,
  displayName: '',
  entityId: null,
  policies: [],
  identityPolicies: [],
  tokenExpiresAt: null,
  namespace: rootNamespace,
  tokenNamespace: rootNamespace,
  grants: [],
  remoteAddress,
});

/** Records whose request it is. */
export function identify(caller: Caller, token: AccessToken): void {
  caller.accessor = token.accessor;
  caller.tokenType = token.tokenType;
  caller.displayName = token.displayName;
  caller.entityId = token.entityId;
  caller.policies = [...token.policies];
  caller.identityPolicies = [...token.identityPolicies];
  caller.tokenExpiresAt = token.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString();
  caller.tokenNamespace = token.namespace;
}
