import {
  capabilityNames,
  decideOnEach,
  type PolicyHolder,
  type RowSource,
  readCompiledPolicies,
  seenPath,
} from '@secrets/access';
import type { Namespace } from '@secrets/caller';

/** The properties of a token that its policies depend on. */
export interface TokenHolder extends Omit<PolicyHolder, 'namespaceId'> {
  /** The namespace of the token, to which its policies belong. */
  namespace: Namespace;
}

/** The capabilities of a token on paths relative to the namespace `where`: `root` means all of them, `deny` none. */
export async function capabilitiesOf(
  source: RowSource,
  { policies: names, entityId, namespace }: TokenHolder,
  where: Namespace,
  paths: readonly string[],
): Promise<Record<string, readonly string[]>> {
  if (names.includes('root')) return Object.fromEntries(paths.map((path) => [path, ['root']]));
  const policies = await readCompiledPolicies(source, {
    policies: names,
    entityId,
    namespaceId: namespace.id,
  });
  const on = (given: string): readonly string[] => {
    const isFolder = given.endsWith('/');
    const path = given.replace(/^\/+|\/$/g, '');
    const seen = seenPath(path, { namespace: where, tokenNamespace: namespace });
    if (seen === undefined) return ['deny'];
    const names = capabilityNames(isFolder ? policies.onFolder(seen) : policies.on(seen));
    return names.length === 0 ? ['deny'] : names;
  };
  const decided = await decideOnEach(namespace.id, policies, paths, on);
  return Object.fromEntries(paths.map((path, at) => [path, decided[at]!]));
}
