import { z } from 'zod';

export const capabilities = ['create', 'read', 'update', 'patch', 'delete', 'list', 'sudo', 'deny'] as const;
export type Capability = (typeof capabilities)[number];

/** A namespace: its id (`root` for the root one) and its path without slashes at the ends (empty for root). */
export const Namespace = z.object({ id: z.string(), path: z.string() });
export type Namespace = z.infer<typeof Namespace>;

/** Who asks, as the gateway has established it. What a service knows of a request's origin is this and no more. */
export const Caller = z.object({
  requestId: z.string(),
  /** Accessor of the token; null when the path needs no token. */
  accessor: z.string().nullable(),
  tokenType: z.enum(['service', 'batch']).nullable(),
  displayName: z.string(),
  entityId: z.string().nullable(),
  policies: z.array(z.string()),
  /** Namespace of the request. */
  namespace: Namespace,
  /** Namespace in which the token was made; its policies stand there. */
  tokenNamespace: Namespace,
  /** What the policies grant on the path of this request: a service that tells create from update looks here. */
  grants: z.array(z.enum(capabilities)),
  remoteAddress: z.string(),
});
export type Caller = z.infer<typeof Caller>;

/** Whether a namespace may change what concerns the whole installation (docs/conventions.md#28-namespaces). */
export const isAdministrative = ({ path }: Namespace): boolean => path === '' || path === 'admin';

/** Whether the caller's token carries the `root` policy. */
export const isRoot = (caller: Caller): boolean => caller.policies.includes('root');
