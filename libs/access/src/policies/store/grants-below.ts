import type { CompiledPolicies } from '../matching/compile-policies.ts';
import type { PolicyPattern } from '../rules/policy-pattern.ts';

/** Whether policies grant anything on a folder, which ends with a slash, or on any path below it. */
export const grantsBelow = (policies: CompiledPolicies, folder: string): boolean =>
  policies.on({ path: folder }).capabilities.length > 0 ||
  policies.rules.some(({ pattern, grant }) => grant.capabilities.length > 0 && reachesBelow(pattern, folder));

/**
 * Whether a pattern is written for paths below a folder, such as `kv/data/*` or `+/data/a` for `kv/`. Others match the
 * folder itself.
 */
function reachesBelow({ stem, plusSegments }: PolicyPattern, folder: string): boolean {
  if (plusSegments === 0) return stem.startsWith(folder);
  const of = folder.split('/').slice(0, -1);
  const written = stem.split('/', of.length + 1);
  return written.length > of.length && of.every((segment, at) => ['+', segment].includes(written[at]!));
}
