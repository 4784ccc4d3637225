import type { PlainRequest } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { Context } from '../../../context.ts';

/** Why the caller may not do each of these with the secrets of a mount, in their order; undefined if it may. */
export async function whyNoImportAccess(
  { policies }: Pick<Context, 'policies'>,
  caller: Caller,
  mount: string,
  requests: readonly PlainRequest[],
): Promise<(string | undefined)[]> {
  if (requests.length === 0) return [];
  const paths = requests.map(({ path, capability }) => ({ path: `${mount}/data/${path}`, capability }));
  const permitted = await policies.mayDoEach(caller, paths);
  return requests.map(({ path, capability }, index) => {
    if (permitted[index]) return undefined;
    const action = capability === 'read' ? 'read' : 'write';
    return `permission denied: your token may not ${action} the secret ${path} in mount ${mount}`;
  });
}

/** Throws `forbidden`, which names mount and path, if the caller may not do one of these with the secrets of a mount. */
export async function requireImportAccess(...request: Parameters<typeof whyNoImportAccess>): Promise<void> {
  const refusal = (await whyNoImportAccess(...request)).find((why) => why !== undefined);
  if (refusal !== undefined) throw new Problem('forbidden', refusal);
}
