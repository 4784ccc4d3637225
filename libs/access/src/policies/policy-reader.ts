import { type Caller, type Capability, effectivePolicies } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { pathFromNamespace } from '../paths/request-path.ts';
import { readPolicySet } from '../read-access.ts';
import { withTemplateValues } from '../read-template-values.ts';
import type { CompiledPolicies } from './compile-policies.ts';
import { compileNamed, type NamedRules } from './named-policies.ts';
import { tooLarge } from './policy-size.ts';
import { TimeShares } from './time-shares.ts';

/** Determines what a caller may do on a path other than the one of its request. */
export interface PolicyReader {
  /**
   * Returns what the caller's policies grant on a path in the namespace of the request. The path is decoded, without
   * leading and trailing slashes.
   */
  capabilitiesOn(caller: Caller, path: string): Promise<readonly Capability[]>;
}

/**
 * Creates a reader for a service whose role may read `login.policies`, `entities`, `entity_aliases`, `groups`, `group_aliases` and
 * `auth_mounts`. It caches nothing: one statement per call, and another one if the policies contain templates.
 */
export const createPolicyReader = ({ db }: { db: Sql }): PolicyReader => ({
  capabilitiesOn: async (caller, path) => {
    const fullPath = pathFromNamespace(caller.tokenNamespace.path, caller.namespace.path, path);
    if (fullPath === undefined) return [];
    const { entityId, tokenNamespace } = caller;
    const holder = { policies: effectivePolicies(caller), entityId, namespaceId: tokenNamespace.id };
    return (await readCompiledPolicies(db, holder)).on(fullPath).capabilities;
  },
});

/** A token, as far as its policies are concerned. */
export interface PolicyHolder {
  policies: readonly string[];
  entityId: string | null;
  /** Of the token and its policies. */
  namespaceId: string;
}

/** Reads and compilations of all namespaces share the time of this process. */
const shares = new TimeShares();

/**
 * Reads and compiles the policies of a token, with the limits that apply to its requests.
 * @throws a problem: `forbidden` if they are too large together, `rate_limited` if too many of the namespace have to be compiled
 */
export async function readCompiledPolicies(sql: Sql, holder: PolicyHolder): Promise<CompiledPolicies> {
  const { policies, namespaceId } = holder;
  if (policies.length === 0 || policies.includes('root')) return compileNamed(policies, []);
  const compiled = await shares.run(namespaceId, async (timed) => {
    const { rules, ...size } = await readPolicySet(sql, namespaceId, policies);
    if (rules === null) throw tooLarge(size);
    return timed(() => compileNamed(policies, JSON.parse(rules) as NamedRules[]));
  });
  return withTemplateValues(sql, compiled, holder);
}
