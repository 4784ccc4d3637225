import { invalid } from '@secrets/domain';
import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { withoutEndSlashes } from '../mount-path.ts';
import { presentSecretState } from '../present-secret-state.ts';
import { inspectSecrets, isFolder, lockEnabledMount, markWatched } from '../queries/watch.ts';
import { checkPath } from '../secret-path.ts';
import { isStorable } from '../storable-text.ts';

const Watch = z.object({
  namespace_id: z.string(),
  mount: z.string().refine(isStorable),
  secret_name: z.string(),
});

export const watchSecret = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/secrets/watch',
    summary: 'tell of every change of a secret from now on, and how it stands now',
    from: 'sync-control',
    body: Watch,
    handle: async ({ body }) => ({ data: await watch(context, body) }),
  });

async function watch(
  context: Context,
  { namespace_id, mount: mountPath, secret_name }: z.infer<typeof Watch>,
) {
  const name = checkPath(withoutEndSlash(secret_name), 'secret_name');
  const { mount, secretId, row, folder } = await context.db.transaction(async (tx) => {
    const mount = await lockEnabledMount(tx, namespace_id, withoutEndSlashes(mountPath));
    if (mount === undefined) throw invalid(`mount: no key-value store is mounted at ${mountPath}`);
    const secretId = await markWatched(tx, mount.id, name);
    const folder = secretId === undefined && (await isFolder(tx, mount.id, name));
    const [row] = secretId === undefined ? [] : await inspectSecrets(tx, [secretId]);
    return { mount, secretId, row, folder };
  });
  return {
    ...presentSecretState(context.keyRing, secretId ?? null, row),
    mount_id: mount.id,
    accessor: mount.accessor,
    mount_path: mount.path,
    secret_name: name,
    folder,
  };
}

const withoutEndSlash = (name: string): string => (name.endsWith('/') ? name.slice(0, -1) : name);
