import {
  destinationSubject,
  federatedTypes,
  SyncTokenRequest,
  syncTokenPath,
  workerOf,
} from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import { issueIdentityToken } from '../issuer/issue-identity-token.ts';

/**
 * Returns the endpoints that give the worker of each destination type identity tokens for destinations of that type
 * (docs/adr/0015-identity-tokens-for-workers.md).
 */
export const syncTokenEndpoints = (context: Context): Endpoint[] =>
  federatedTypes.map((type) => issueSyncToken(context, type));

const issueSyncToken = (context: Context, type: string) =>
  endpoint({
    method: 'post',
    path: syncTokenPath(type),
    summary: `Issue an identity token for a destination of the type ${type}`,
    from: workerOf(type),
    body: SyncTokenRequest,
    handle: async ({ body: { namespace_path, name, audience, ttl_seconds } }) => {
      const subject = destinationSubject({ namespacePath: namespace_path, type, name });
      const request = { subject, audience, ttlSeconds: ttl_seconds };
      const { token, id } = await issueIdentityToken(context, request);
      context.log.info({ subject, audience, tokenId: id }, 'identity token issued');
      return { data: { token } };
    },
  });
