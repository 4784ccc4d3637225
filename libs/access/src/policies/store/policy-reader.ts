import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Caller, effectivePolicies } from '@secrets/caller';
import { pathFromNamespace } from '../../paths/request-path.ts';
import { readPolicySet } from '../../read-access.ts';
import type { RowSource } from '../../rows/row-guard.ts';
import type { CompiledPolicies } from '../matching/compile-policies.ts';
import { tooLarge } from '../rules/policy-size.ts';
import { CpuShares } from './cpu-shares.ts';
import { grantsBelow } from './grants-below.ts';
import { type PlainRequest, permits, permitsPlainRead } from './may-read.ts';
import { compileNamed, parseRules } from './named-policies.ts';
import { withTemplateValues } from './read-template-values.ts';

/** Determines what a caller may do on a path other than the one of its request. */
export interface PolicyReader {
  /** Whether the caller could read a path in the namespace of the request itself (`permitsPlainRead`). */
  mayRead(caller: Caller, path: string): Promise<boolean>;
  /** Whether the caller may do each of these, in their order. The policies are read once. */
  mayDoEach(caller: Caller, requests: readonly PlainRequest[]): Promise<boolean[]>;
  /** Whether the policies grant anything in a folder of the namespace of the request, given without slashes at its ends. */
  mayDoBelow(caller: Caller, folder: string): Promise<boolean>;
}

/**
 * Creates a reader for a service whose role may read `login.policies`, `entities`, `entity_aliases`, `groups`,
 * `group_aliases` and `auth_mounts`. It caches nothing: one statement per call, and another one if the policies contain
 * templates.
 */
export const createPolicyReader = (source: RowSource): PolicyReader => ({
  mayRead: async (caller, path) =>
    permitsPlainRead(await readCompiledPolicies(source, holderOf(caller)), caller, path),
  mayDoEach: async (caller, requests) => {
    const policies = await readCompiledPolicies(source, holderOf(caller));
    return decideOnEach(caller.tokenNamespace.id, policies, requests, (one) =>
      permits(policies, caller, one),
    );
  },
  mayDoBelow: async (caller, folder) => {
    const seen = pathFromNamespace(caller.tokenNamespace.path, caller.namespace.path, `${folder}/`);
    return seen !== undefined && grantsBelow(await readCompiledPolicies(source, holderOf(caller)), seen);
  },
});

const holderOf = (caller: Caller): PolicyHolder => ({
  policies: effectivePolicies(caller),
  entityId: caller.entityId,
  namespaceId: caller.tokenNamespace.id,
});

/** The fields of a token that determine its policies. */
export interface PolicyHolder {
  policies: readonly string[];
  entityId: string | null;
  /** The namespace of the token and its policies. */
  namespaceId: string;
}

/** Limits what the policies of each namespace may compute. */
const shares = new CpuShares();

/**
 * Reads and compiles the policies of a token, with the limits that apply to its requests.
 * @throws a problem: `forbidden` if they are too large together or one was changed, `rate_limited` if too many of the namespace
 * have to be compiled
 */
export async function readCompiledPolicies(
  { db, rows }: RowSource,
  holder: PolicyHolder,
): Promise<CompiledPolicies> {
  const { policies, namespaceId } = holder;
  if (policies.length === 0 || policies.includes('root')) return compileNamed(policies, []);
  return shares.run(namespaceId, async (timed) => {
    const { rules, ...size } = await readPolicySet(db, namespaceId, policies);
    if (rules === null) throw tooLarge(size);
    const compiled = timed(() => compileNamed(policies, parseRules(rows, namespaceId, rules)));
    return withTemplateValues(db, compiled, holder, timed);
  });
}

/** Number of comparisons after which other requests are served. */
const stepsPerTurn = 20_000;

/**
 * Decides on many paths by policies that were read for a namespace, in small parts, so that other requests are served in between.
 * @throws a problem (`rate_limited`) if the namespace has used up its CPU share
 */
export async function decideOnEach<Path, Result>(
  namespaceId: string,
  policies: CompiledPolicies,
  paths: readonly Path[],
  decide: (path: Path) => Result,
): Promise<Result[]> {
  const perTurn = Math.max(1, Math.floor(stepsPerTurn / (policies.maxSteps + 1)));
  const results: Result[] = [];
  for (let at = 0; at < paths.length; at += perTurn) {
    if (at > 0) await nextTurn();
    const part = paths.slice(at, at + perTurn);
    results.push(...(await shares.decide(namespaceId, policies, () => part.map(decide))));
  }
  return results;
}
