import type { Sql } from '@secrets/db';
import type { AccessChanges } from '../../changes/access-changes.ts';
import { changeTag } from '../../changes/change-tags.ts';
import type { Epoch } from '../../changes/epoch.ts';
import { type AtEpoch, readPolicySet } from '../../read-access.ts';
import type { RowGuard } from '../../rows/row-guard.ts';
import { epochCache } from '../../tokens/epoch-cache.ts';
import {
  type CompiledPart,
  type CompiledPolicies,
  compilePart,
  mergedPolicies,
} from '../matching/compile-policies.ts';
import { type PolicySize, tooLarge } from '../rules/policy-size.ts';
import { defaultPolicy, rootPolicy } from './built-in-policies.ts';
import { CpuShares } from './cpu-shares.ts';
import { type PolicyNames, policyCache, tagsOfPolicies } from './policy-cache.ts';
import { withTemplateValues } from './read-template-values.ts';

/** Compiles policies and merges them into sets, which tokens with the same policies share. */
export interface PolicySets {
  /**
   * Returns the compiled policies with these names in a namespace, read no earlier than the call, with the values of an entity in
   * place of templates.
   * @param seen an epoch that was read after the request arrived
   * @throws a problem: `forbidden` if they are too large together or one was changed, `rate_limited` if too many sets of the
   * namespace have to be compiled
   */
  get(names: readonly string[], holder: Holder, seen: Epoch): Promise<CompiledPolicies>;
  /**
   * Makes a decision with the policies of a namespace. An expensive decision counts against its CPU share.
   * @throws a problem (`rate_limited`)
   */
  decide<R>(namespaceId: string, rules: CompiledPolicies, decide: () => R): Promise<R>;
}

interface Holder {
  namespaceId: string;
  entityId: string | null;
}

/** Policies that apply together. */
interface PolicySet extends PolicyNames {
  size: PolicySize;
  /** Undefined if they are too large together. */
  rules: CompiledPolicies | undefined;
}

const maxSets = 20_000;
/**
 * Total of policy paths and names in each cache of sets. A set counts all its paths: it keeps them in memory even if
 * nothing else does.
 */
const maxWeight = 100_000;

/** Reads and compiles sets of policies, through a cache that follows every change. */
export function policySets(db: Sql, changes: AccessChanges, rows: RowGuard): PolicySets {
  const shares = new CpuShares();
  const singles = policyCache(changes, rows);
  const [sets, setsOfEntities] = [setCache(changes), setCache(changes)];
  const read = (names: PolicyNames, seen: Epoch): Promise<AtEpoch<PolicySet>> =>
    shares.run(names.namespaceId, async (timed) => {
      if (seen !== changes.epoch) await changes.observe();
      const since = changes.epoch;
      const known = singles.peek(names);
      const { epoch, rules, ...size } = await readPolicySet(db, names.namespaceId, names.names, known);
      const compiled = rules === null ? undefined : timed(() => singles.compile(names, { epoch, rules }));
      return {
        epoch: known.size === 0 ? epoch : changes.earlier(since, epoch),
        row: { ...names, size, rules: compiled && mergedPolicies(withDefault(names, known, compiled)) },
      };
    });
  return {
    decide: (namespaceId, rules, decide) => shares.decide(namespaceId, rules, decide),
    get: async (unsorted, { namespaceId, entityId }, seen) => {
      if (unsorted.includes('root')) return rootPolicy;
      const names = { namespaceId, names: [...new Set(unsorted)].sort() };
      const key = JSON.stringify([namespaceId, ...names.names]); // a name may contain a comma
      const { epoch, row } = await sets.get(key, () => read(names, seen), seen);
      const { rules } = row!;
      if (rules === undefined) throw tooLarge(row!.size);
      if (!rules.hasTemplates || entityId === null) return rules;
      // The values are read after the policies, so a change after `epoch` makes them outdated, too.
      const readValues = async () => {
        const resolved = await shares.run(namespaceId, (timed) =>
          withTemplateValues(db, rules, { entityId, namespaceId }, timed),
        );
        return { epoch, row: { ...row!, entityId, rules: resolved } };
      };
      return (await setsOfEntities.get(`${key} ${entityId}`, readValues, epoch)).row!.rules!;
    },
  };
}

const setCache = (changes: AccessChanges) =>
  epochCache<PolicySet & { entityId?: string }>({
    changes,
    maxEntries: maxSets,
    tagsOf: ({ entityId, ...set }) =>
      entityId === undefined
        ? tagsOfPolicies(set)
        : [...tagsOfPolicies(set), changeTag.entity(entityId), changeTag.groups(set.namespaceId)],
    weightOf: ({ rules, names }) => (rules?.paths ?? 0) + names.length + 1,
    maxWeight,
  });

const builtInDefault = compilePart([defaultPolicy]);

/** All parts of a set. The policy `default` is the built-in one unless an operator has written another. */
function withDefault({ names }: PolicyNames, ...found: ReadonlyMap<string, CompiledPart>[]): CompiledPart[] {
  const parts = found.flatMap((some) => [...some.values()]);
  const isBuiltIn = names.includes('default') && !found.some((some) => some.has('default'));
  return isBuiltIn ? [...parts, builtInDefault] : parts;
}
