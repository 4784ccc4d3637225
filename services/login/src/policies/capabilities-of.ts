import { type PolicyHolder, pathFromNamespace, readCompiledPolicies } from '@secrets/access';
import type { Namespace } from '@secrets/caller';
import { pathNames } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';

/** A token, as far as its policies are concerned. */
export interface TokenHolder extends Omit<PolicyHolder, 'namespaceId'> {
  /** The namespace of the token, to which its policies belong. */
  namespace: Namespace;
}

/** The capabilities of a token on paths relative to the namespace `where`: `root` means all of them, `deny` none. */
export async function capabilitiesOf(
  { db }: DbContext,
  { policies: names, entityId, namespace }: TokenHolder,
  where: Namespace,
  paths: readonly string[],
): Promise<Record<string, readonly string[]>> {
  if (names.includes('root')) return Object.fromEntries(paths.map((path) => [path, ['root']]));
  const policies = await readCompiledPolicies(db, { policies: names, entityId, namespaceId: namespace.id });
  const seen = (path: string) => pathFromNamespace(namespace.path, where.path, path);
  const on = (given: string): readonly string[] => {
    const isFolder = given.endsWith('/');
    const { path, alternative } = pathNames(given.replace(/^\/+|\/$/g, ''));
    const at = seen(path);
    const other = alternative === undefined ? undefined : seen(alternative);
    if (at === undefined) return ['deny'];
    const { capabilities } = isFolder ? policies.onFolder(at, other) : policies.on(at, other);
    return capabilities.length === 0 ? ['deny'] : capabilities;
  };
  return Object.fromEntries(paths.map((path) => [path, on(path)]));
}
