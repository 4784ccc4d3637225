import { effectivePolicies } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import { type Endpoint, endpoint, stringList, withOtherNames } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { capabilitiesOf } from '../../policies/capabilities-of.ts';
import type { StoredToken } from '../../queries/tokens/stored-tokens.ts';
import {
  type FoundBatchToken,
  findBatchToken,
  requireTokenByAccessor,
  requireTokenByValue,
} from '../../tokens/find-token.ts';

const maxPaths = 256;
/** A request with a longer path is refused. */
const maxPathLength = 16_384;

const list = stringList.meta({
  type: 'array',
  minItems: 1,
  maxItems: maxPaths,
  items: { type: 'string', pattern: '[!-~]' },
});
/** Clients may send the token that the request has anyway. */
const unused = z.string().optional();
const pathsBody = <Shape extends z.ZodRawShape>(more: Shape) =>
  withOtherNames(
    z
      .object({ paths: list.optional(), ...more })
      .meta({ anyOf: [{ required: ['paths'] }, { required: ['path'] }] }),
    { paths: 'path' },
  );

/**
 * `sys/capabilities-self`, and the same for another token by its accessor or value
 * (docs/api/access.md#policies-and-capabilities).
 */
export const capabilityEndpoints = (context: Context): Endpoint[] => [
  readOwnCapabilities(context),
  readCapabilitiesByAccessor(context),
  readCapabilitiesByToken(context),
];

const readOwnCapabilities = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/capabilities-self',
    summary: "Read the capabilities of the caller's token on paths",
    body: pathsBody({ token: unused }),
    handle: async ({ body, caller }) => {
      const { entityId, tokenNamespace } = caller;
      const holder = { policies: effectivePolicies(caller), entityId, namespace: tokenNamespace };
      const byPath = await capabilitiesOf(context, holder, caller.namespace, pathsIn(body));
      return { data: presentCapabilities(byPath) };
    },
  });

const readCapabilitiesByAccessor = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/capabilities-accessor',
    summary: 'Read the capabilities of the token of an accessor on paths',
    body: pathsBody({ accessor: z.string().min(1) }),
    handle: async ({ body, caller }) => {
      const token = await requireTokenByAccessor(context, caller, body.accessor);
      const byPath = await capabilitiesOf(context, holderOf(token), caller.namespace, pathsIn(body));
      return { data: presentCapabilities(byPath) };
    },
  });

const readCapabilitiesByToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/capabilities',
    summary: 'Read the capabilities of a token on paths',
    body: pathsBody({ token: z.string().min(1) }),
    handle: async ({ body, caller }) => {
      const batch = await findBatchToken(context, caller, body.token);
      const holder = batch
        ? holderOfBatch(batch)
        : holderOf(await requireTokenByValue(context, caller, body.token));
      const byPath = await capabilitiesOf(context, holder, caller.namespace, pathsIn(body));
      return { data: presentCapabilities(byPath) };
    },
  });

const holderOf = (token: StoredToken) => ({
  policies: [...token.policies, ...token.identityPolicies],
  entityId: token.entityId,
  namespace: { id: token.namespaceId, path: token.namespacePath },
});

const holderOfBatch = ({ payload, identityPolicies, namespacePath }: FoundBatchToken) => ({
  policies: [...payload.policies, ...identityPolicies],
  entityId: payload.entity_id,
  namespace: { id: payload.namespace_id, path: namespacePath },
});

function pathsIn({ paths = [] }: { paths?: string[] | undefined }): string[] {
  if (paths.length === 0) throw invalid('paths is required');
  if (paths.length > maxPaths) throw invalid(`paths: must have at most ${maxPaths} paths`);
  if (paths.some((path) => path.length > maxPathLength))
    throw invalid(`paths: each must have at most ${maxPathLength} characters`);
  return paths;
}

/** Capabilities by path. Those of a single path are also in `capabilities`. */
function presentCapabilities(byPath: Record<string, readonly string[]>) {
  const all = Object.values(byPath);
  return { ...byPath, ...(all.length === 1 ? { capabilities: all[0] } : {}) };
}
