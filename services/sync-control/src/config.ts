import { port } from '@secrets/config';
import { z } from 'zod';

/** The environment of sync-control. Keys come as file paths. */
export const Env = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(7003),
  DATABASE_URL: z.string().min(1),
  AMQP_URL: z.string().min(1),
  SECRETS_URL: z.url().default('http://127.0.0.1:7002'),
  SEAL_KEY_FILE: z.string().min(1),
  INTERNAL_KEY_FILE: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** Prefix of external names and built-in tags; once per installation. */
  SECRET_NAME_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,30}$/)
    .default('secrets'),
  /** Seconds between two looks at everything, for what was missed. */
  RECONCILE_SECONDS: z.coerce.number().int().min(1).default(300),
  /** Seconds between two looks for announcements that the broker has lost. */
  SWEEP_SECONDS: z.coerce.number().min(0.05).max(3_600).default(10),
  /** Seconds without a claim after which an announcement is believed lost when its queue is empty. */
  LOST_AFTER_SECONDS: z.coerce.number().min(1).max(86_400).default(60),
});

/** What the app needs to know of its environment. */
export interface SyncControlConfig {
  prefix: string;
  reconcileSeconds: number;
  /** How the broker's losses are looked for; default every 10 s, for what is older than 60 s. */
  sweep?: { everySeconds: number; lostAfterSeconds: number };
}
