import { compilePolicies, defaultPolicy, type PolicyRules, pathFromNamespace } from '@secrets/access';
import type { Namespace } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { rulesOf } from '../queries/policies.ts';

/** Whose capabilities are asked for. */
export interface PolicyHolder {
  policies: readonly string[];
  /** The namespace in which the policies stand. */
  namespace: Namespace;
}

/**
 * What a holder of policies may do on paths relative to `where`: `root` for everything, `deny` for nothing, as users
 * of such services know it.
 */
export async function capabilitiesOf(
  sql: Sql,
  holder: PolicyHolder,
  where: Namespace,
  paths: readonly string[],
): Promise<Record<string, readonly string[]>> {
  if (holder.policies.includes('root')) return Object.fromEntries(paths.map((path) => [path, ['root']]));
  const policies = compilePolicies(await policiesOf(sql, holder));
  const on = (path: string): readonly string[] => {
    const seen = pathFromNamespace(holder.namespace.path, where.path, path.replace(/^\/+/, ''));
    const granted = seen === undefined ? [] : policies.on(seen);
    return granted.length === 0 ? ['deny'] : granted;
  };
  return Object.fromEntries(paths.map((path) => [path, on(path)]));
}

async function policiesOf(sql: Sql, { policies, namespace }: PolicyHolder): Promise<PolicyRules[]> {
  const written = await rulesOf(sql, namespace.id, policies);
  const builtIn = policies.includes('default') && !written.some(({ name }) => name === 'default');
  return [...written.map(({ rules }) => rules), ...(builtIn ? [defaultPolicy] : [])];
}
