import type { Caller } from '@secrets/caller';
import type { Context } from '../../../../context.ts';
import type { StoredImport } from './stored-import.ts';

type Requested = Pick<StoredImport, 'caller' | 'type' | 'name' | 'mount'>;

/**
 * Returns the caller of an import with what its policies grant on sets of the secrets at these paths, in their order: these are
 * the grants of a request of its own. Without `update`, it may not set the association.
 */
export async function associatingCallers(
  { policies }: Pick<Context, 'policies'>,
  { caller, type, name, mount }: Requested,
  paths: readonly string[],
): Promise<Caller[]> {
  const path = `sys/sync/destinations/${type}/${name}/associations/set`;
  const requests = paths.flatMap((secret_name) => {
    const body = { mount, secret_name, overwrite: true };
    return (['update', 'sudo'] as const).map((capability) => ({ path, capability, body }));
  });
  const permitted = await policies.mayDoEach(caller, requests);
  return paths.map((_, index) => ({
    ...caller,
    grants: (['update', 'sudo'] as const).filter((__, at) => permitted[2 * index + at]),
  }));
}
