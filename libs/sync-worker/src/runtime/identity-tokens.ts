import { serviceCaller } from '@secrets/caller';
import { Fault, Problem, type SyncTokenRequest, syncTokenPath, workerOf } from '@secrets/domain';
import type { InternalClient } from '@secrets/http';
import { z } from 'zod';
import type { DestinationSettings, IdentityTokenRequest } from '../driver/driver.ts';

/** Requests identity tokens for the destinations of one type. */
export interface IdentityTokens {
  /** Returns a new token about a destination. Throws `Fault`. */
  issue(
    destination: Pick<DestinationSettings, 'name' | 'namespacePath'>,
    request: IdentityTokenRequest,
  ): Promise<string>;
}

const Issued = z.object({ token: z.string() });

/** Requests them from login, which issues them only for destinations of this worker's type. */
export const identityTokens = (client: InternalClient, type: string): IdentityTokens => ({
  issue: async ({ name, namespacePath }, { audience, ttlSeconds }) => {
    const body: SyncTokenRequest = { namespace_path: namespacePath, name, audience, ttl_seconds: ttlSeconds };
    const caller = serviceCaller(workerOf(type), crypto.randomUUID());
    const issued = await client.call('POST', `/v1${syncTokenPath(type)}`, caller, body).catch(refused);
    return Issued.parse(issued).token;
  },
});

/** Used by a worker without a key for login: every request fails. */
export const noIdentityTokens: IdentityTokens = {
  issue: async () => {
    throw new Fault(
      'unauthenticated',
      'requesting an identity token: the worker has no key for login (INTERNAL_KEY_FILE)',
    );
  },
};

function refused(error: unknown): never {
  if (!(error instanceof Problem)) throw error;
  const isTemporary = error.kind === 'unavailable' || error.kind === 'bad_gateway';
  throw new Fault(
    isTemporary ? 'unavailable' : 'unauthenticated',
    `requesting an identity token: ${error.message}`,
  );
}
