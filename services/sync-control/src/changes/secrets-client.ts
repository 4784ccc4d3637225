import { type Caller, serviceCaller } from '@secrets/caller';
import { type ImportGrant, Problem, type RuleMatch, type SignedGrant } from '@secrets/domain';
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

/** The state of a secret: whether a version can be read, its top-level keys, and how often it has changed. */
export type WatchedSecret = z.infer<typeof Watched>;

const WatchedList = Watched.pick({ mount_id: true, accessor: true, mount_path: true }).extend({
  secrets: z.array(
    Watched.omit({ mount_id: true, accessor: true, mount_path: true }).extend({
      secret_name: z.string(),
      keys: z.array(z.string()).nullable(),
    }),
  ),
});

/** The states of secrets of one mount. The keys of a secret are null if its value cannot be read. */
export type WatchedList = z.infer<typeof WatchedList>;

/** An earlier version returns no hashes. */
const Previewed = Watched.extend({
  value_bytes: z.number(),
  key_bytes: z.array(z.number()),
  value_hash: z.string().optional(),
  key_hashes: z.array(z.string()).optional(),
  /** Why no new secret can have this path; null if it can. */
  new_path_problem: z.string().nullable().optional(),
  /** The number of the newest version, whether or not it is readable; 0 if there is none. */
  current_version: z.number().optional(),
});

/**
 * The state of a secret, and the size in bytes of what is pushed, and its keyed hash if it was asked for: of the whole, and of
 * each key in the order of `keys`.
 */
export type PreviewedSecret = z.infer<typeof Previewed>;

const PreviewedById = Previewed.pick({
  keys: true,
  readable: true,
  value_bytes: true,
  key_bytes: true,
  value_hash: true,
  key_hashes: true,
}).extend({ secret_id: z.uuid() });

/** The preview of a secret that is known by its ID. */
export type PreviewedById = z.infer<typeof PreviewedById>;

const Inspected = z.object({
  secret_id: z.uuid(),
  exists: z.boolean(),
  readable: z.boolean(),
  revision: z.number(),
  keys: z.array(z.string()),
});

/** The state of a secret that is already watched. */
export type InspectedSecret = z.infer<typeof Inspected>;

const AwaitedSecret = z.object({ secret_id: z.uuid(), revision: z.number() });

const Revision = z.object({ secret_id: z.uuid(), exists: z.boolean(), revision: z.number() });

/** Whether a secret exists, and how often it has changed. */
export type SecretRevision = z.infer<typeof Revision>;

const MatchingPage = z.object({
  mount: z.object({ path: z.string(), accessor: z.string() }).nullable(),
  secrets: z.array(z.object({ secret_id: z.uuid(), path: z.string() })),
  next: z.string().nullable(),
});

/** Secrets of a mount that a rule matches; `next` is the path after which the next page begins, and null after the last one. */
type MatchingPage = z.infer<typeof MatchingPage>;

const Place = z.object({
  secret_id: z.uuid(),
  mount_id: z.uuid(),
  path: z.string(),
  custom_metadata: z.record(z.string(), z.string()).nullable(),
});

/** Where a secret is, and its custom metadata. */
export type SecretPlace = z.infer<typeof Place>;

/** Client of the secrets service. Its responses never contain values. */
export interface SecretsClient {
  /**
   * Returns the state of a secret and subscribes to its changes. Throws `invalid` if the mount does not exist or is not
   * KV version 2.
   */
  watch(caller: Caller, mount: string, secretName: string): Promise<WatchedSecret>;
  /** Like `watch` for up to 100 secrets of one mount, in their order. Without `keys`, none are returned, and no value is read. */
  watchSeveral(
    caller: Caller,
    mount: string,
    secretNames: readonly string[],
    keys: boolean,
  ): Promise<WatchedList>;
  /** Like `watch`, without a subscription, and with the sizes of what would be pushed; with `hashes`, its hashes as well. */
  preview(caller: Caller, mount: string, secretName: string, hashes: boolean): Promise<PreviewedSecret>;
  /**
   * Returns the states of up to 500 secrets; deleted ones have `exists` false. The state of a secret that is left out is
   * unknown, and must not lead to any action.
   */
  inspect(requestId: string, secretIds: readonly string[]): Promise<InspectedSecret[]>;
  /** Returns the revisions of up to 500 secrets, without opening their values. Missing states as in `inspect`. */
  revisions(requestId: string, secretIds: readonly string[]): Promise<SecretRevision[]>;
  /**
   * Returns secrets of a mount that match, after a path, of at most `limit` that are looked at, by default 500. A page may be
   * empty. The mount is null if it is gone.
   */
  matching(
    requestId: string,
    mountId: string,
    rule: RuleMatch,
    range: { after: string; limit?: number },
  ): Promise<MatchingPage>;
  /** Like `preview`, of up to 100 secrets. Those that do not exist, and those that cannot be read, are left out. */
  previews(requestId: string, secretIds: readonly string[], hashes: boolean): Promise<PreviewedById[]>;
  /** Returns the places of up to 500 secrets, without those that do not exist. */
  places(requestId: string, secretIds: readonly string[]): Promise<SecretPlace[]>;
  /** Creates a secret without a version, unless it exists. Returns its ID and revision. */
  awaitValue(
    caller: Caller,
    secret: { mount: string; path: string; origin: string },
  ): Promise<z.infer<typeof AwaitedSecret>>;
  /** Permits a worker to write one version on behalf of a caller, within 30 seconds. */
  permitImport(caller: Caller, grant: ImportGrant): SignedGrant;
  close(): Promise<void>;
}

/**
 * Calls the internal endpoints of the secrets service.
 * @param permit signs a text that the service reads
 */
export function secretsClient(
  client: InternalClient,
  permit: (caller: Caller, text: string) => string,
): SecretsClient {
  const callNew = (requestId: string, operation: string, body: object) =>
    client
      .call('POST', `/v1/internal/secrets/${operation}`, serviceCaller('sync-control', requestId), body)
      .catch(ofEarlierVersion);
  return {
    watch: async (caller, mount, secretName) => {
      const body = { namespace_id: caller.namespace.id, mount, secret_name: secretName };
      return Watched.parse(await client.call('POST', '/v1/internal/secrets/watch', caller, body));
    },
    watchSeveral: async (caller, mount, secretNames, keys) => {
      const body = { namespace_id: caller.namespace.id, mount, secret_names: secretNames, keys };
      return WatchedList.parse(await client.call('POST', '/v1/internal/secrets/watch-several', caller, body));
    },
    preview: async (caller, mount, secretName, hashes) => {
      const body = { namespace_id: caller.namespace.id, mount, secret_name: secretName, hashes };
      return Previewed.parse(await client.call('POST', '/v1/internal/secrets/preview', caller, body));
    },
    inspect: async (requestId, secretIds) => {
      const caller = serviceCaller('sync-control', requestId);
      const answer = await client.call('POST', '/v1/internal/secrets/inspect', caller, {
        secret_ids: secretIds,
      });
      return z.object({ secrets: z.array(Inspected) }).parse(answer).secrets;
    },
    revisions: async (requestId, secretIds) => {
      const caller = serviceCaller('sync-control', requestId);
      const answer = await client.call('POST', '/v1/internal/secrets/revisions', caller, {
        secret_ids: secretIds,
      });
      return z.object({ secrets: z.array(Revision) }).parse(answer).secrets;
    },
    matching: async (requestId, mountId, { path, exclude, metadataMatch }, range) => {
      const body = { mount_id: mountId, path, exclude, metadata_match: metadataMatch, ...range };
      return MatchingPage.parse(await callNew(requestId, 'matching', body));
    },
    previews: async (requestId, secretIds, hashes) => {
      const answer = await callNew(requestId, 'previews', { secret_ids: secretIds, hashes });
      return z.object({ secrets: z.array(PreviewedById) }).parse(answer).secrets;
    },
    places: async (requestId, secretIds) => {
      const answer = await callNew(requestId, 'places', { secret_ids: secretIds });
      return z.object({ secrets: z.array(Place) }).parse(answer).secrets;
    },
    awaitValue: async (caller, { mount, path: secret_name, origin }) => {
      const body = { namespace_id: caller.namespace.id, mount, secret_name, origin };
      return AwaitedSecret.parse(await client.call('POST', '/v1/internal/secrets/await', caller, body));
    },
    permitImport: (caller, given) => {
      const grant = JSON.stringify(given);
      return { grant, permit: permit(caller, grant) };
    },
    close: () => client.close(),
  };
}

/** An endpoint that an earlier version does not have. */
function ofEarlierVersion(error: unknown): never {
  if (!(error instanceof Problem) || error.kind !== 'not_found') throw error;
  throw new Problem('unavailable', 'the secrets service is of an earlier version', { cause: error });
}
