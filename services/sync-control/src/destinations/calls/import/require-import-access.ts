import type { PlainRequest } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { Context } from '../../../context.ts';

/** Throws `forbidden`, which names mount and path, if the caller may not do one of these with the secrets of a mount. */
export async function requireImportAccess(
  { policies }: Pick<Context, 'policies'>,
  caller: Caller,
  mount: string,
  requests: readonly PlainRequest[],
): Promise<void> {
  if (requests.length === 0) return;
  const paths = requests.map(({ path, capability }) => ({ path: `${mount}/data/${path}`, capability }));
  const permitted = await policies.mayDoEach(caller, paths);
  const refused = requests[permitted.indexOf(false)];
  if (refused === undefined) return;
  const action = refused.capability === 'read' ? 'read' : 'write';
  throw new Problem(
    'forbidden',
    `permission denied: your token may not ${action} the secret ${refused.path} in mount ${mount}`,
  );
}
