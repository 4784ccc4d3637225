import { builtInPolicyNames } from '@secrets/access';
import { invalid } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { removePolicy } from '../policies/remove-policy.ts';
import { requirePolicy } from '../policies/require-policy.ts';
import { savePolicy } from '../policies/save-policy.ts';
import { listPolicyNames } from '../queries/policies.ts';

/** The name of a policy, in lower case, without characters that would split it in a comma-separated list. */
const policyName = z
  .string()
  .max(128, 'must have at most 128 characters')
  .transform((name) => name.toLowerCase())
  .refine((name) => /^[a-z0-9_][a-z0-9_.@+:-]*$/.test(name), {
    error: 'may contain only letters, digits and _.@+:-',
  })
  .meta({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.@+:-]*$' });

const Page = pageQuery({ max: 10_000 });
const PolicyParams = z.object({ name: policyName });
const policyText = z
  .string()
  .min(1, 'must not be empty')
  .meta({
    description: 'HCL or JSON',
    examples: ['path "secret/data/shop/*" { capabilities = ["read"] }'],
  });
const PolicyBody = z.object({ policy: policyText });
const OlderPolicyBody = z.object({
  policy: policyText.optional(),
  rules: policyText.optional().meta({ description: 'An older name of `policy`, one of which is required' }),
});

const olderBasePath = '/sys/policy';
const basePaths = ['/sys/policies/acl', olderBasePath];
const isOlder = (path: string): boolean => path.startsWith(olderBasePath);

/**
 * `sys/policies/acl/<name>` (docs/conventions.md#27-policies); `sys/policy/<name>` is an older name, which can also be read as a list
 * and calls the text `rules`, too.
 */
export const policyEndpoints = (context: Context): Endpoint[] => [
  listPolicies(context, olderBasePath, 'get'),
  ...basePaths.flatMap((basePath) => {
    const path = `${basePath}/:name`;
    return [
      listPolicies(context, basePath),
      readPolicy(context, path),
      writePolicy(context, path),
      deletePolicy(context, path),
    ];
  }),
];

const listPolicies = (context: Context, path: string, method: 'list' | 'get' = 'list') =>
  endpoint({
    method,
    path,
    summary: 'List the policies of this namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = '', limit } = query;
      const range = { after: after.toLowerCase(), limit: limit + 1 };
      const written = await listPolicyNames(context.db, caller.namespace.id, range);
      const builtIn = builtInPolicyNames.filter((name) => name > range.after);
      const names = requireAny([...new Set([...builtIn, ...written])].sort());
      const keys = cutToPage(names, limit, (name) => ({ after: name }), warn);
      return { data: isOlder(path) ? { keys, policies: keys } : { keys } };
    },
  });

const readPolicy = (context: Context, path: string) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a policy as it was written',
    params: PolicyParams,
    handle: async ({ params, caller }) => {
      const { name } = params;
      const policy = await requirePolicy(context, caller, name);
      return { data: isOlder(path) ? { name, policy, rules: policy } : { name, policy } };
    },
  });

const writePolicy = (context: Context, path: string) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create or replace a policy, in HCL or JSON',
    needs: 'create or update',
    params: PolicyParams,
    body: isOlder(path) ? OlderPolicyBody : PolicyBody,
    handle: async ({ params, body, caller }) => {
      const policy = body.policy ?? ('rules' in body ? body.rules : undefined);
      if (policy === undefined) throw invalid('policy is required');
      await savePolicy(context, caller, params.name, policy);
      return undefined;
    },
  });

const deletePolicy = (context: Context, path: string) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a policy; tokens that have it lose what it grants',
    params: PolicyParams,
    handle: async ({ params, caller }) => {
      await removePolicy(context, caller, params.name);
      return undefined;
    },
  });
