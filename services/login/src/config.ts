import { serviceEnv } from '@secrets/service';
import { z } from 'zod';

/** The environment of login. */
export const Env = z.object({
  ...serviceEnv(7001),
  /** The first start reads the root token from this file, or generates one and writes it there. */
  ROOT_TOKEN_FILE: z.string().min(1).optional(),
  /** The keys of the workers that may request identity tokens. If absent, those in `INTERNAL_KEY_FILE`. */
  WORKER_KEY_FILE: z.string().min(1).optional(),
  /** Base URL of cloudB's identity directory. If absent, the environment of each mount determines it. */
  CLOUDB_AUTHORITY_URL: z.url({ protocol: /^https?$/ }).optional(),
  TOKEN_SWEEP_SECONDS: z.coerce.number().int().min(1).max(3_600).default(15),
});

/** The settings of the service. */
export interface LoginConfig {
  /** Base URL of cloudB's identity directory. If absent, the environment of each mount determines it. */
  authorityUrl?: string | undefined;
  /** Seconds between two sweeps of expired tokens. Default: 15. */
  sweepSeconds?: number | undefined;
}
