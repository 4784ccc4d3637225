import type { Sql } from '@secrets/db';
import type { AccessChanges } from '../changes/access-changes.ts';
import { concern } from '../changes/concerns.ts';
import { type AtEpoch, readPolicySet } from '../read-access.ts';
import { withTemplateValues } from '../read-template-values.ts';
import { epochCache } from '../tokens/epoch-cache.ts';
import { rootPolicy } from './built-in-policies.ts';
import type { CompiledPolicies } from './compile-policies.ts';
import { compileNamed, type NamedRules } from './named-policies.ts';
import { type PolicySize, tooLarge } from './policy-size.ts';
import { TimeShares } from './time-shares.ts';

/** Compiles sets of policies. Tokens with the same policies share what was compiled. */
export interface PolicySets {
  /**
   * The policies with these names in a namespace, compiled, as they are at some moment after the call, with the values of an entity in place of
   * templates.
   * @param seen an epoch that was read after the request arrived
   * @throws a problem: `forbidden` if they are too large together, `rate_limited` if too many sets of the namespace have to be compiled
   */
  get(names: readonly string[], holder: Holder, seen: number): Promise<CompiledPolicies>;
}

interface Holder {
  namespaceId: string;
  entityId: string | null;
}

interface PolicySet {
  size: PolicySize;
  /** Undefined if they are too large together. */
  rules: CompiledPolicies | undefined;
  tags: readonly string[];
}

const maxSets = 20_000;
/** Total of policy paths and names in the cache. A path takes 0.5 kB of memory, one with `+` up to 2.5 kB. */
const maxWeight = 200_000;

/** Reads and compiles sets of policies, from a cache where that gives the same result. */
export function policySets(db: Sql, changes: AccessChanges): PolicySets {
  const shares = new TimeShares();
  const cacheOf = () =>
    epochCache<PolicySet>({
      changes,
      maxEntries: maxSets,
      tagsOf: ({ tags }) => tags,
      weightOf: ({ rules, tags }) => (rules?.paths ?? 0) + tags.length,
      maxWeight,
    });
  const [sets, setsOfEntities] = [cacheOf(), cacheOf()];
  const read = (namespaceId: string, names: readonly string[]): Promise<AtEpoch<PolicySet>> =>
    shares.run(namespaceId, async (timed) => {
      const { epoch, rules, ...size } = await readPolicySet(db, namespaceId, names);
      const tags = [
        concern.namespace(namespaceId),
        ...names.map((name) => concern.policy(namespaceId, name)),
      ];
      const compiled = rules === null ? undefined : timed(() => compileNamed(names, parsed(rules)));
      return { epoch, row: { size, rules: compiled, tags } };
    });
  return {
    get: async (unsorted, { namespaceId, entityId }, seen) => {
      if (unsorted.includes('root')) return rootPolicy;
      const names = [...new Set(unsorted)].sort();
      const key = `${namespaceId} ${names}`;
      const { epoch, row } = await sets.get(key, () => read(namespaceId, names), seen);
      const { rules } = row!;
      if (rules === undefined) throw tooLarge(row!.size);
      if (!rules.hasTemplates || entityId === null) return rules;
      // The values are read after the policies, so what is changed later concerns them, too.
      const readValues = async () => {
        const tags = [...row!.tags, concern.entity(entityId), concern.groups(namespaceId)];
        const resolved = await withTemplateValues(db, rules, { entityId, namespaceId });
        return { epoch, row: { ...row!, tags, rules: resolved } };
      };
      return (await setsOfEntities.get(`${key} ${entityId}`, readValues, epoch)).row!.rules!;
    },
  };
}

const parsed = (rules: string) => JSON.parse(rules) as NamedRules[];
