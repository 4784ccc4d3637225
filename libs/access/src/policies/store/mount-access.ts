import { type Caller, effectivePolicies } from '@secrets/caller';
import { pathFromNamespace } from '../../paths/request-path.ts';
import type { RowSource } from '../../rows/row-guard.ts';
import { grantsBelow } from './grants-below.ts';
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
