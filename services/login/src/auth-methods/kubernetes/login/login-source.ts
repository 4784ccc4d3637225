import type { Json } from '@secrets/domain';
import { z } from 'zod';
import type { ReadyKubernetesTarget } from '../kubernetes-context.ts';
import type { Proven } from './prove.ts';

/** The stored facts of a login, which a renewal checks against the current role and configuration. */
export const LoginSource = z.object({
  /** The audience of the role, for which the token was. */
  audience: z.string(),
  /** The URL of the cluster. */
  host: z.string(),
  issuer: z.string().nullable(),
  /** The thumbprint of the key that signed the token, if the configuration contained it. */
  key: z.string().optional(),
  name: z.string(),
  namespace: z.string(),
  role: z.string(),
});

/** Returns the facts of a login to store, with the names in the order in which they are hashed (`canonicalJson`). */
export const loginSource = (
  { config, role, roleName }: ReadyKubernetesTarget,
  { account, claims, thumbprint }: Proven,
): Json => ({
  audience: role.audience,
  host: config.kubernetes_host,
  issuer: typeof claims.iss === 'string' ? claims.iss : null,
  ...(thumbprint === undefined ? {} : { key: thumbprint }),
  name: account.name,
  namespace: account.namespace,
  role: roleName,
});
