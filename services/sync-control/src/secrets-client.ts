import { type Caller, serviceCaller } from '@secrets/caller';
import type { InternalClient } from '@secrets/http';
import { z } from 'zod';

const Watched = z.object({
  exists: z.boolean(),
  folder: z.boolean(),
  readable: z.boolean(),
  mount_id: z.uuid(),
  accessor: z.string(),
  mount_path: z.string(),
  secret_id: z.uuid().nullable(),
  revision: z.number(),
  keys: z.array(z.string()),
});

/** A secret as it stands: whether something of it can be read, its top-level keys, and how often it changed. */
export type WatchedSecret = z.infer<typeof Watched>;

const Inspected = z.object({
  secret_id: z.uuid(),
  exists: z.boolean(),
  readable: z.boolean(),
  revision: z.number(),
  keys: z.array(z.string()),
});

export type InspectedSecret = z.infer<typeof Inspected>;

/** What sync-control asks of the secrets service. Values are never among the answers. */
export interface SecretsClient {
  /**
   * Looks a secret up and has every later change of it announced. A problem (`invalid`) names a mount that does not
   * exist or is no KV version 2.
   */
  watch(caller: Caller, mount: string, secretName: string): Promise<WatchedSecret>;
  /** The accessor of a mount, or its name when there is none (any more). */
  accessorOf(caller: Caller, mount: string): Promise<string>;
  /** How up to 500 secrets stand; those that are gone do not exist. One that is left out is unknown: it is not to be acted upon. */
  inspect(requestId: string, secretIds: readonly string[]): Promise<InspectedSecret[]>;
  close(): Promise<void>;
}

/** Speaks to the secrets service over its internal endpoints. */
export function secretsClient(client: InternalClient): SecretsClient {
  return {
    watch: async (caller, mount, secretName) => {
      const body = { namespace_id: caller.namespace.id, mount, secret_name: secretName };
      return Watched.parse(await client.call('POST', '/v1/internal/secrets/watch', caller, body));
    },
    accessorOf: async (caller, mount) => {
      const body = { namespace_id: caller.namespace.id, mount };
      const found = await client.call('POST', '/v1/internal/mounts/find', caller, body);
      return z.object({ accessor: z.string() }).safeParse(found).data?.accessor ?? mount;
    },
    inspect: async (requestId, secretIds) => {
      const caller = serviceCaller('sync-control', requestId);
      const answer = await client.call('POST', '/v1/internal/secrets/inspect', caller, {
        secret_ids: secretIds,
      });
      return z.object({ secrets: z.array(Inspected) }).parse(answer).secrets;
    },
    close: () => client.close(),
  };
}
