import { type Caller, effectivePolicies } from '@secrets/caller';
import { pathFromNamespace } from '../../paths/request-path.ts';
import type { RowSource } from '../../rows/row-guard.ts';
import type { CompiledPolicies } from '../matching/compile-policies.ts';
import type { PolicyPattern } from '../rules/policy-pattern.ts';
import { readCompiledPolicies } from './policy-reader.ts';

/**
 * Reads the caller's policies, and returns whether they grant anything at or below a mount of the request's namespace,
 * given by its path without slashes at the ends. For a service whose role may read what `createPolicyReader` needs.
 */
export async function readMountAccess(
  source: RowSource,
  caller: Caller,
): Promise<(mount: string) => boolean> {
  const { entityId, tokenNamespace } = caller;
  const holder = { policies: effectivePolicies(caller), entityId, namespaceId: tokenNamespace.id };
  const policies = await readCompiledPolicies(source, holder);
  return (mount) => {
    const folder = pathFromNamespace(caller.tokenNamespace.path, caller.namespace.path, `${mount}/`);
    return folder !== undefined && grantsBelow(policies, folder);
  };
}

/** Whether policies grant anything on a folder, which ends with a slash, or on any path below it. */
export const grantsBelow = (policies: CompiledPolicies, folder: string): boolean =>
  policies.on({ path: folder }).capabilities.length > 0 ||
  policies.rules.some(({ pattern, grant }) => grant.capabilities.length > 0 && reachesBelow(pattern, folder));

/**
 * Whether a pattern is written for paths below a folder, such as `kv/data/*` or `+/data/a` for `kv/`. Others match the
 * folder itself.
 */
function reachesBelow({ stem, plusSegments }: PolicyPattern, folder: string): boolean {
  if (plusSegments === 0) return stem.startsWith(folder);
  const of = folder.split('/').slice(0, -1);
  const written = stem.split('/', of.length + 1);
  return written.length > of.length && of.every((segment, at) => ['+', segment].includes(written[at]!));
}
