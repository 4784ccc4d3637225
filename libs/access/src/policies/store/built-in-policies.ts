import { capabilities } from '@secrets/caller';
import type { CompiledPolicies } from '../matching/compile-policies.ts';
import type { Grant } from '../rules/grant.ts';
import { parsePattern } from '../rules/policy-pattern.ts';
import type { PolicyRules } from '../rules/policy-rules.ts';

/** Names of the policies that always exist (docs/conventions/access.md#policies). */
export const builtInPolicyNames = ['default', 'root'] as const;

const everything: Grant = {
  capabilities: capabilities.filter((capability) => capability !== 'deny'),
  isDenied: false,
  conditions: undefined,
  eventTypes: ['*'],
};

/** The `root` policy: everything on every path. It cannot be written. */
export const rootPolicy: CompiledPolicies = {
  paths: 1,
  maxSteps: 0,
  hasTemplates: false,
  withValues: () => rootPolicy,
  on: () => everything,
  onFolder: () => everything,
  rules: [{ pattern: parsePattern('*'), grant: everything }],
};

/** The `default` policy, unless an operator overwrites it: what a token may do with itself, and response wrapping. */
export const defaultPolicy: PolicyRules = {
  paths: [
    { path: 'auth/token/lookup-self', capabilities: ['read'] },
    { path: 'auth/token/renew-self', capabilities: ['update'] },
    { path: 'auth/token/revoke-self', capabilities: ['update'] },
    { path: 'sys/capabilities-self', capabilities: ['update'] },
    { path: 'sys/wrapping/wrap', capabilities: ['update'] },
    { path: 'sys/wrapping/lookup', capabilities: ['update'] },
    { path: 'sys/wrapping/unwrap', capabilities: ['update'] },
  ],
};
