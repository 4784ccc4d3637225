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
  /** The first start reads the root token from this file, or generates one and writes it there. */
  ROOT_TOKEN_FILE: z.string().min(1).optional(),
  /** Base URL of cloudB's identity directory. If absent, the environment of each mount determines it. */
  CLOUDB_AUTHORITY_URL: z.url({ protocol: /^https?$/ }).optional(),
  TOKEN_SWEEP_SECONDS: z.coerce.number().int().min(1).max(3_600).default(15),
});
export type Env = z.infer<typeof Env>;

/** The settings of the service. */
export interface LoginConfig {
  /** Base URL of cloudB's identity directory. If absent, the environment of each mount determines it. */
  authorityUrl?: string | undefined;
  /** Seconds between two sweeps of expired tokens. Default: 15. */
  sweepSeconds?: number | undefined;
}
