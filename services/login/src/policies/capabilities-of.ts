import { compileNamed, pathFromNamespace } from '@secrets/access';
import type { Namespace } from '@secrets/caller';
import { pathNames } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { listPolicyRules } from '../queries/policies.ts';

/** A token, as far as its policies are concerned. */
export interface PolicyHolder {
  policies: readonly string[];
  /** The namespace of the token, to which its policies belong. */
  namespace: Namespace;
}

/** The capabilities of a token on paths relative to the namespace `where`: `root` means all of them, `deny` none. */
export async function capabilitiesOf(
  { db }: DbContext,
  holder: PolicyHolder,
  where: Namespace,
  paths: readonly string[],
): Promise<Record<string, readonly string[]>> {
  if (holder.policies.includes('root')) return Object.fromEntries(paths.map((path) => [path, ['root']]));
  const rows = await listPolicyRules(db, holder.namespace.id, holder.policies);
  const policies = compileNamed(holder.policies, rows);
  const seen = (path: string) => pathFromNamespace(holder.namespace.path, where.path, path);
  const on = (given: string): readonly string[] => {
    const { path, alternative } = pathNames(given.replace(/^\/+/, ''));
    const at = seen(path);
    const granted =
      at === undefined ? [] : policies.on(at, alternative === undefined ? undefined : seen(alternative));
    return granted.length === 0 ? ['deny'] : granted;
  };
  return Object.fromEntries(paths.map((path) => [path, on(path)]));
}
