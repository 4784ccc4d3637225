import { commaList, port } from '@secrets/config';
import { z } from 'zod';

/** The environment variables of every worker. A worker adds those of its own driver. */
export const WorkerEnv = z.object({
  HOST: z.string().default('127.0.0.1'),
  /** Serves `/livez`, `/readyz` and `/metrics`; must not be exposed. Each worker has its own default. */
  INTERNAL_PORT: port,
  DATABASE_URL: z.string().min(1),
  AMQP_URL: z.string().min(1),
  SEAL_KEY_FILE: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** Addresses that every destination may reach in addition to public ones, such as `10.0.0.0/8,127.0.0.1/32:9000`. */
  EGRESS_ALLOW: commaList.default([]),
  /** Addresses that a destination may allow for itself in its own lists. */
  EGRESS_MAY_OPEN: commaList.default([]),
  /** Number of entries processed concurrently. */
  CONCURRENCY: z.coerce.number().int().min(1).max(256).default(16),
  LEASE_SECONDS: z.coerce.number().int().min(5).max(600).default(30),
  /** Prefix of external names and built-in tags, the same in the whole installation. */
  SECRET_NAME_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,30}$/)
    .default('secrets'),
});
export type WorkerEnv = z.infer<typeof WorkerEnv>;
