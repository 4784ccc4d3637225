import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import { awaitVersion } from '../changes/await-version.ts';
import { inspectSecrets } from '../changes/inspect-secrets.ts';
import { matchingPage, matchingPageSize, placesOf } from '../changes/matching-secrets.ts';
import { presentSecretState } from '../changes/present-secret-state.ts';
import { previewSecret, pushedHashes, pushedSizes } from '../changes/preview-secret.ts';
import { maxPreviewed, previewSecrets } from '../changes/preview-secrets.ts';
import { type Watched, watchSecret } from '../changes/watch-secret.ts';
import { maxWatched, watchSeveral } from '../changes/watch-several.ts';
import type { Context } from '../context.ts';
import { newPathProblem, secretPath, withoutEndSlash } from '../kv/secret-path.ts';
import { mountPath } from '../mounts/mount-path.ts';
import { findRevisions } from '../queries/watch.ts';
import { isStorable } from '../storable-text.ts';

const Watch = z.object({
  namespace_id: z.string(),
  mount: mountPath.refine(isStorable, { error: 'must not contain NUL' }),
  secret_name: z.string().transform(withoutEndSlash).pipe(secretPath),
});
/** With `keys`, the top-level keys are returned, which opens the values. */
const WatchSeveral = Watch.omit({ secret_name: true }).extend({
  secret_names: z.array(Watch.shape.secret_name).max(maxWatched),
  keys: z.boolean(),
});
/** With `hashes`, the keyed hashes of what would be pushed are returned, too. */
const Preview = Watch.extend({ hashes: z.boolean().default(false) });
/** The external secret whose value the first version is to have, as `<type>/<destination>/<external name>`. */
const Await = Watch.extend({ origin: z.string() });
const Previews = z.object({
  secret_ids: z.array(z.uuid()).max(maxPreviewed),
  hashes: z.boolean().default(false),
});
const SecretIds = z.object({ secret_ids: z.array(z.uuid()).max(500) });

/**
 * Endpoints that sync-control calls to follow the changes of secrets (docs/conventions/sync.md#changes-of-the-secret).
 */
export const internalEndpoints = (context: Context): Endpoint[] => [
  watch(context),
  watchList(context),
  preview(context),
  previewEach(context),
  awaitFirst(context),
  inspect(context),
  readRevisions(context),
  listMatching(context),
  readPlaces(context),
];

const watch = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/watch',
    summary: "Subscribe to a secret's changes, and return its current state",
    from: 'sync-control',
    body: Watch,
    handle: async ({ body }) => {
      const { namespace_id, mount, secret_name } = body;
      const request = { namespaceId: namespace_id, mountPath: mount, path: secret_name };
      const watched = await watchSecret(context, request);
      return { data: { ...presentWatched(context, watched), secret_name } };
    },
  });

const watchList = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/watch-several',
    summary: 'Subscribe to the changes of secrets of one mount, and return their current states',
    from: 'sync-control',
    body: WatchSeveral,
    handle: async ({ body: { namespace_id, mount, secret_names, keys } }) => {
      const request = { namespaceId: namespace_id, mountPath: mount, paths: secret_names, keys };
      const watched = await watchSeveral(context, request);
      const { id: mount_id, accessor, path: mount_path } = watched.mount;
      return { data: { mount_id, accessor, mount_path, secrets: watched.secrets } };
    },
  });

const preview = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/preview',
    summary: 'Read the current state of a secret and the sizes of what would be pushed, without subscribing',
    from: 'sync-control',
    body: Preview,
    handle: async ({ body }) => {
      const { namespace_id, mount, secret_name } = body;
      const request = { namespaceId: namespace_id, mountPath: mount, path: secret_name };
      const found = await previewSecret(context, request);
      const sizes = pushedSizes(context.keyRing, found.row);
      const hashes = body.hashes ? pushedHashes(context.keyRing, found.row) : {};
      const new_path_problem = newPathProblem(secret_name) ?? null;
      const current_version = found.row?.currentVersion ?? 0;
      return {
        data: {
          ...presentWatched(context, found),
          ...sizes,
          ...hashes,
          secret_name,
          new_path_problem,
          current_version,
        },
      };
    },
  });

const previewEach = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/previews',
    summary:
      'Read the current states of secrets and the sizes of what would be pushed, without subscribing; unknown states are omitted',
    from: 'sync-control',
    body: Previews,
    handle: async ({ body: { secret_ids: ids, hashes } }) => ({
      data: { secrets: await previewSecrets(context, ids, { hashes }) },
    }),
  });

const awaitFirst = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/await',
    summary: 'Create a secret without a version, unless it exists, and return its current state',
    from: 'sync-control',
    body: Await,
    handle: async ({ body }) => {
      const { namespace_id, mount, secret_name, origin } = body;
      const request = { namespaceId: namespace_id, mountPath: mount, path: secret_name, origin };
      const { secretId, row } = await awaitVersion(context, request);
      return { data: { secret_id: secretId, revision: row?.revision ?? 0 } };
    },
  });

const inspect = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/inspect',
    summary:
      'Read the state of secrets: whether each has a readable version, and its keys; unknown states are omitted',
    from: 'sync-control',
    body: SecretIds,
    handle: async ({ body }) => ({ data: { secrets: await inspectSecrets(context, body.secret_ids) } }),
  });

const readRevisions = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/revisions',
    summary: 'Read whether secrets exist and how often each has changed, without decrypting their values',
    from: 'sync-control',
    body: SecretIds,
    handle: async ({ body }) => {
      const revisions = await findRevisions(context.db, body.secret_ids);
      return { data: { secrets: body.secret_ids.map((id) => presentRevision(id, revisions)) } };
    },
  });

const Matching = z.object({
  mount_id: z.uuid(),
  path: z.string().min(1),
  exclude: z.array(z.string()),
  metadata_match: z.record(z.string(), z.string()),
  after: z.string(),
  limit: z.int().min(1).max(matchingPageSize.max).default(matchingPageSize.byDefault),
});

const listMatching = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/matching',
    summary: 'List secrets of a mount that match a rule, after a path, without their values',
    from: 'sync-control',
    body: Matching,
    handle: async ({
      body: { mount_id: mountId, metadata_match: metadataMatch, after, limit, ...paths },
    }) => {
      const { mount, secrets, next } = await matchingPage(context, mountId, {
        rule: { ...paths, metadataMatch },
        after,
        limit,
      });
      return { data: { mount: mount ?? null, secrets, next } };
    },
  });

const readPlaces = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/places',
    summary:
      'Read the mounts, the paths and the custom metadata of secrets; those that do not exist are omitted',
    from: 'sync-control',
    body: SecretIds,
    handle: async ({ body }) => ({ data: { secrets: await placesOf(context, body.secret_ids) } }),
  });

const presentWatched = (context: Context, { mount, secretId, row, isFolder }: Watched) => ({
  ...presentSecretState(context.keyRing, secretId ?? null, row),
  mount_id: mount.id,
  accessor: mount.accessor,
  mount_path: mount.path,
  folder: isFolder,
});

function presentRevision(secretId: string, revisions: ReadonlyMap<string, number>) {
  const revision = revisions.get(secretId.toLowerCase());
  return { secret_id: secretId, exists: revision !== undefined, revision: revision ?? 0 };
}
