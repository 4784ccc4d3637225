import { serviceEnv } from '@secrets/service';
import { z } from 'zod';

/** The environment of the secrets service. */
export const Env = z.object({
  ...serviceEnv(7002),
  AMQP_URL: z.string().min(1),
  /** The keys of the workers that write what they import. If absent, those in `INTERNAL_KEY_FILE`. */
  WORKER_KEY_FILE: z.string().min(1).optional(),
  /** Seconds between two searches for expired versions and for disabled mounts that are not purged yet. */
  SWEEP_SECONDS: z.coerce.number().min(0.05).max(3_600).default(5),
});

export interface SecretsConfig {
  sweepSeconds: number;
}

export const defaultConfig: SecretsConfig = { sweepSeconds: 5 };
