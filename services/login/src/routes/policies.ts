import { builtInPolicyNames } from '@secrets/access';
import { requireGrant } from '@secrets/caller';
import { invalid, notFound } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { builtInSource } from '../policies/built-in-source.ts';
import { parsePolicy } from '../policies/parse-policy.ts';
import { deletePolicy, policyNames, policySource, savePolicy } from '../queries/policies.ts';

/** The name of a policy, in lower case, without characters that would split it in a comma-separated list. */
const PolicyName = z
  .string()
  .max(128, 'must have at most 128 characters')
  .transform((name) => name.toLowerCase())
  .refine((name) => /^[a-z0-9_][a-z0-9_.@+:-]*$/.test(name), {
    error: 'may contain only letters, digits and _.@+:-',
  });
const PolicyParams = z.object({ name: PolicyName });

/** `sys/policies/acl/<name>` (docs/conventions.md#27-policies); `sys/policy/<name>` is an older name. */
export const policyEndpoints = (context: Context): Endpoint[] =>
  ['/sys/policies/acl', '/sys/policy'].flatMap((base) => [
    listPolicies(context, base),
    readPolicy(context, base),
    writePolicy(context, base),
    removePolicy(context, base),
  ]);

const listPolicies = (context: Context, base: string) =>
  endpoint({
    method: 'list',
    path: base,
    summary: 'List the policies of this namespace',
    query: pageQuery({ max: 10_000 }),
    handle: async ({ caller, query: { after = '', limit }, warn }) => {
      const range = { after: after.toLowerCase(), limit: limit + 1 };
      const written = await policyNames(context.db, caller.namespace.id, range);
      const builtIn = builtInPolicyNames.filter((name) => name > range.after);
      const names = requireAny([...new Set([...builtIn, ...written])].sort());
      return { data: { keys: cutToPage(names, limit, (name) => ({ after: name }), warn) } };
    },
  });

const readPolicy = (context: Context, base: string) =>
  endpoint({
    method: 'get',
    path: `${base}/:name`,
    summary: 'Read a policy as it was written',
    params: PolicyParams,
    handle: async ({ params: { name }, caller }) => {
      const written = await policySource(context.db, caller.namespace.id, name);
      const policy = written ?? builtInSource.get(name);
      if (policy === undefined) throw notFound();
      return { data: { name, policy } };
    },
  });

const writePolicy = (context: Context, base: string) =>
  endpoint({
    method: 'post',
    path: `${base}/:name`,
    summary: 'Write a policy, in HCL or JSON',
    needs: 'create or update',
    params: PolicyParams,
    body: z.object({ policy: z.string().min(1, 'must not be empty') }),
    handle: async ({ params: { name }, body, caller }) => {
      if (name === 'root') throw invalid('the root policy cannot be changed');
      const exists =
        name === 'default' || (await policySource(context.db, caller.namespace.id, name)) !== undefined;
      requireGrant(caller, exists);
      const rules = await parsePolicy(body.policy);
      await savePolicy(context.db, caller.namespace.id, name, { source: body.policy, rules });
      return undefined;
    },
  });

const removePolicy = (context: Context, base: string) =>
  endpoint({
    method: 'delete',
    path: `${base}/:name`,
    summary: 'Delete a policy; tokens that have it lose what it grants',
    params: PolicyParams,
    handle: async ({ params: { name }, caller }) => {
      if (builtInSource.has(name)) throw invalid(`the ${name} policy cannot be deleted`);
      await deletePolicy(context.db, caller.namespace.id, name);
      return undefined;
    },
  });
