import type { AccessChanges } from '../../changes/access-changes.ts';
import { changeTag } from '../../changes/change-tags.ts';
import type { Epoch } from '../../changes/epoch.ts';
import type { RowGuard } from '../../rows/row-guard.ts';
import { epochCache } from '../../tokens/epoch-cache.ts';
import { type CompiledPart, compilePart } from '../matching/compile-policies.ts';
import { parseRules } from './named-policies.ts';

/** Names of policies in one namespace. */
export interface PolicyNames {
  namespaceId: string;
  names: readonly string[];
}

/** Returns the tags of the changes that make compiled policies outdated. */
export const tagsOfPolicies = ({ namespaceId, names }: PolicyNames): readonly string[] => [
  changeTag.namespace(namespaceId),
  ...names.map((name) => changeTag.policy(namespaceId, name)),
];

/** Policies that were compiled separately, so that a policy in several sets is compiled once. */
interface PolicyCache {
  /** Returns the cached policies by name, as of `changes.epoch`. */
  peek(names: PolicyNames): ReadonlyMap<string, CompiledPart>;
  /** Compiles policies of a namespace and caches them. Throws what `parseRules` throws. */
  compile(names: PolicyNames, read: { epoch: Epoch; rules: string }): ReadonlyMap<string, CompiledPart>;
}

interface Policy extends CompiledPart, PolicyNames {}

const maxPolicies = 20_000;
/** Total of policy paths in the cache. A path takes 0.5 kB of memory, one with `+` up to 2.5 kB. */
const maxWeight = 100_000;

export function policyCache(changes: AccessChanges, rows: RowGuard): PolicyCache {
  const cache = epochCache<Policy>({
    changes,
    maxEntries: maxPolicies,
    tagsOf: tagsOfPolicies,
    weightOf: ({ index, templates }) => index.size + templates.length + 1,
    maxWeight,
  });
  const keyOf = (namespaceId: string, name: string) => `${namespaceId} ${name}`;
  return {
    peek: ({ namespaceId, names }) => {
      const found = new Map<string, Policy>();
      for (const name of names) {
        const policy = cache.peek(keyOf(namespaceId, name));
        if (policy !== undefined) found.set(name, policy);
      }
      return found;
    },
    compile: ({ namespaceId }, { epoch, rules: text }) => {
      const compiled = new Map<string, Policy>();
      for (const { name, rules } of parseRules(rows, namespaceId, text)) {
        const row = { ...compilePart([rules]), namespaceId, names: [name] };
        cache.add(keyOf(namespaceId, name), { epoch, row });
        compiled.set(name, row);
      }
      return compiled;
    },
  };
}
