import { port } from '@secrets/config';
import { z } from 'zod';

/** What the login service reads from its environment. */
export const Env = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(7001),
  DATABASE_URL: z.string().min(1),
  SEAL_KEY_FILE: z.string().min(1),
  INTERNAL_KEY_FILE: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** The first start takes the root token from this file, or makes one and writes it there. */
  ROOT_TOKEN_FILE: z.string().min(1).optional(),
  /** Base URL of the directory; each environment's own when absent. */
  CLOUDB_AUTHORITY_URL: z.url({ protocol: /^https?$/ }).optional(),
  TOKEN_SWEEP_SECONDS: z.coerce.number().int().min(1).max(3_600).default(15),
});
export type Env = z.infer<typeof Env>;

/** What the service needs to know beside its collaborators. */
export interface LoginConfig {
  /** Base URL of the directory, for every mount; the environment of the mount's configuration decides when absent. */
  authorityUrl?: string | undefined;
  /** Seconds between two sweeps of expired tokens; default 15. */
  sweepSeconds?: number | undefined;
}
