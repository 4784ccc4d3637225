import { isAdministrativeNamespace } from '@secrets/domain';
import { z } from 'zod';

export const capabilities = ['create', 'read', 'update', 'patch', 'delete', 'list', 'sudo', 'deny'] as const;
export type Capability = (typeof capabilities)[number];

/**
 * A namespace: its ID and its path without leading and trailing slashes. The root namespace has the ID `root` and the empty
 * path.
 */
export const Namespace = z.object({ id: z.string(), path: z.string() });
export type Namespace = z.infer<typeof Namespace>;

/** Who made a request, as the gateway determined it: everything that a service knows about the origin of a request. */
export const Caller = z.object({
  requestId: z.string(),
  /** Accessor of the token; null for a batch token and if the path needs no token. */
  accessor: z.string().nullable(),
  tokenType: z.enum(['service', 'batch']).nullable(),
  displayName: z.string(),
  entityId: z.string().nullable(),
  /** Of the token itself. */
  policies: z.array(z.string()),
  /** Of the token's entity and its groups. They apply like those of the token, but are not inherited by its children. */
  identityPolicies: z.array(z.string()).default([]),
  /** When the token expires, in ISO 8601; null if it does not, and if the path needs no token. */
  tokenExpiresAt: z.string().nullable().default(null),
  /** Namespace of the request. */
  namespace: Namespace,
  /** Namespace of the token and of its policies. */
  tokenNamespace: Namespace,
  /** What the policies grant on the path of this request. Services that distinguish create from update check it. */
  grants: z.array(z.enum(capabilities)),
  remoteAddress: z.string(),
  /**
   * Identifies the newest change of access that the gateway had taken into account, read after the request arrived. Only for
   * logins: login need not look for changes again. Absent if it is not known. (Version 0.2 sends a number as `accessEpoch`,
   * which says too little.)
   */
  newestChange: z.string().optional(),
});
export type Caller = { readonly [Field in keyof Parsed]: Readonly<Parsed[Field]> };
type Parsed = z.infer<typeof Caller>;

/** Whether a namespace may change the settings of the whole installation (docs/conventions/access.md#namespaces). */
export const isAdministrative = ({ path }: Pick<Namespace, 'path'>): boolean =>
  isAdministrativeNamespace(path);

/** All policies that apply to a caller: those of the token and those of its identity, each once. */
export const effectivePolicies = ({ policies, identityPolicies }: Caller): string[] => [
  ...new Set([...policies, ...identityPolicies]),
];

/** Whether the caller's token has the `root` policy. */
export const isRoot = (caller: Caller): boolean => caller.policies.includes('root');
