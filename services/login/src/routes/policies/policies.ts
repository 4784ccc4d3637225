import { builtInPolicyNames } from '@secrets/access';
import { invalid, withoutControl } from '@secrets/domain';
import {
  cutToPage,
  type Endpoint,
  endpoint,
  pageQuery,
  requireNonEmpty,
  withOtherNames,
} from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { removePolicy } from '../../policies/remove-policy.ts';
import { requirePolicy } from '../../policies/require-policy.ts';
import { savePolicy } from '../../policies/save-policy.ts';
import { listPolicyNames } from '../../queries/policies.ts';

/**
 * The name of a policy in a path, in lower case. Blanks around it are refused: the decision on the request was about
 * another path. One with a comma can only be given in a list, not in a text of several names.
 */
const policyName = z
  .string()
  .min(1, 'must not be empty')
  .regex(/^\S(?:.*\S)?$/, 'must not begin or end with a blank')
  .max(128, 'must have at most 128 characters')
  .regex(withoutControl, 'must not contain control characters')
  .transform((name) => name.toLowerCase())
  .meta({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.@+:-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.@+:-]*){0,2}$' });

const Page = pageQuery({ max: 10_000 });
const PolicyParams = z.object({ name: policyName });
const policyText = z
  .string()
  .min(1, 'must not be empty')
  .meta({
    description: 'HCL or JSON',
    examples: ['path "secret/data/shop/*" { capabilities = ["read"] }'],
  });
/** Values in templates match one segment and are never patterns. */
const strict = z.literal([false, 'false'], { error: 'must be false' }).optional();
const templates = {
  allow_slashes_in_identity_templates: strict,
  allow_wildcards_in_identity_templates: strict,
};
const PolicyBody = z.object({ policy: policyText, ...templates });
const OlderPolicyBody = withOtherNames(z.object({ policy: policyText.optional(), ...templates }), {
  policy: 'rules',
});

const olderBasePath = '/sys/policy';
const basePaths = ['/sys/policies/acl', olderBasePath];
const isOlder = (path: string): boolean => path.startsWith(olderBasePath);

/**
 * `sys/policies/acl/<name>` (docs/conventions/access.md#policies); `sys/policy/<name>` is an older name, which can also
 * be read as a list and calls the text `rules`, too.
 */
export const policyEndpoints = (context: Context): Endpoint[] => [
  listPolicies(context, olderBasePath, 'get'),
  ...basePaths.flatMap((basePath) => {
    const path = `${basePath}/*name`;
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
      const names = requireNonEmpty([...new Set([...builtIn, ...written])].sort());
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
      if (body.policy === undefined) throw invalid('policy is required');
      await savePolicy(context, caller, params.name, body.policy);
    },
  });

const deletePolicy = (context: Context, path: string) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a policy; tokens that have it lose what it grants',
    params: PolicyParams,
    handle: ({ params, caller }) => removePolicy(context, caller, params.name),
  });
