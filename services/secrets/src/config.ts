import { port } from '@secrets/config';
import { z } from 'zod';

/** The environment of this service. */
export const Env = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(7002),
  DATABASE_URL: z.string().min(1),
  AMQP_URL: z.string().min(1),
  SEAL_KEY_FILE: z.string().min(1), // a path; the key itself never enters the environment
  INTERNAL_KEY_FILE: z.string().min(1),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** Seconds between two searches for expired versions and for disabled mounts that are not purged yet. */
  SWEEP_SECONDS: z.coerce.number().min(0.05).max(3_600).default(5),
});
export type Env = z.infer<typeof Env>;

/** The part of the environment that the app needs. */
export interface SecretsConfig {
  sweepSeconds: number;
}

export const defaultConfig: SecretsConfig = { sweepSeconds: 5 };
