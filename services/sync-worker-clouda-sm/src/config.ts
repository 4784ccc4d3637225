import { commaList, port } from '@secrets/config';
import { z } from 'zod';

/** The worker's environment. Keys come as file paths. */
export const Env = z.object({
  HOST: z.string().default('127.0.0.1'),
  /** Where `/livez`, `/readyz` and `/metrics` are served; not for the world. */
  INTERNAL_PORT: port.default(7105),
  DATABASE_URL: z.string().min(1),
  AMQP_URL: z.string().min(1),
  SEAL_KEY_FILE: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** The endpoint to use in place of the provider's own. The worker may connect to its host and port. */
  CLOUDA_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The region of destinations that name none. */
  AWS_REGION: z.string().optional(),
  AWS_DEFAULT_REGION: z.string().optional(),
  /** Addresses beside the public ones that every destination may reach, such as `10.0.0.0/8,127.0.0.1/32:9000`. */
  EGRESS_ALLOW: commaList.default([]),
  /** Addresses beside the public ones that a destination may open for itself by its own lists. */
  EGRESS_MAY_OPEN: commaList.default([]),
  /** Entries worked on at once. */
  CONCURRENCY: z.coerce.number().int().min(1).max(256).default(16),
  LEASE_SECONDS: z.coerce.number().int().min(5).max(600).default(30),
  /** Prefix of external names and built-in tags; once per installation. */
  SECRET_NAME_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,30}$/)
    .default('secrets'),
});
export type Env = z.infer<typeof Env>;
