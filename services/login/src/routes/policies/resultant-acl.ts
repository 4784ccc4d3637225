import { capabilityNames, readCompiledPolicies } from '@secrets/access';
import { type Caller, effectivePolicies, isRoot } from '@secrets/caller';
import { type Endpoint, endpoint } from '@secrets/http';
import type { Context } from '../../context.ts';

/** `sys/internal/ui/resultant-acl`, with which user interfaces decide what to show. The gateway requires only a token. */
export const resultantAclEndpoints = (context: Context): Endpoint[] => [
  endpoint({
    method: 'get',
    path: '/sys/internal/ui/resultant-acl',
    summary: "Read what the caller's policies grant, by path",
    access: { anyToken: true },
    handle: async ({ caller }) => ({
      data: isRoot(caller) ? { root: true } : await granted(context, caller),
    }),
  }),
];

/** By exact path and by prefix or pattern, each with the path of the token's namespace before it. */
async function granted(context: Context, caller: Caller) {
  const { entityId, tokenNamespace } = caller;
  const holder = { policies: effectivePolicies(caller), entityId, namespaceId: tokenNamespace.id };
  const { rules } = await readCompiledPolicies(context, holder);
  const paths = rules.map(({ pattern, grant }) => ({
    path: inNamespace(caller, pattern.isPrefix && pattern.plusSegments === 0 ? pattern.stem : pattern.text),
    isExact: pattern.firstWildcard === undefined,
    capabilities: grant.isDenied ? ['deny'] : capabilityNames(grant),
  }));
  const those = (exact: boolean) =>
    Object.fromEntries(
      paths
        .filter(({ isExact }) => isExact === exact)
        .map(({ path, capabilities }) => [path, { capabilities }]),
    );
  return { root: false, exact_paths: those(true), glob_paths: those(false) };
}

const inNamespace = ({ tokenNamespace: { path } }: Caller, pattern: string): string =>
  path === '' ? pattern : `${path}/${pattern}`;
