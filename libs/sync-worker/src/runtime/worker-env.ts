import { commaList, port } from '@secrets/config';
import {
  databaseEnv,
  installationName,
  internalTlsEnv,
  secretNamePrefix,
  serviceUrls,
} from '@secrets/service';
import { z } from 'zod';

/** The variables that a worker has in its own process and in that of all services. */
export const workerEnv = {
  /** Addresses that every destination may reach in addition to public ones, such as `10.0.0.0/8,127.0.0.1/32:9000`. */
  EGRESS_ALLOW: commaList.default([]),
  /** Addresses that a destination may allow for itself in its own lists. */
  EGRESS_MAY_OPEN: commaList.default([]),
  /** Number of entries processed concurrently. */
  CONCURRENCY: z.coerce.number().int().min(1).max(256).default(16),
  /** Total size of the values of more than 64 KiB that are in memory at once. */
  LARGE_VALUES_MIB: z.coerce.number().int().min(1).max(4_096).default(16),
  LEASE_SECONDS: z.coerce.number().int().min(5).max(600).default(30),
  SECRET_NAME_PREFIX: secretNamePrefix,
  INSTALLATION: installationName,
};

/** The environment variables of every worker. A worker adds those of its own driver. */
export const WorkerEnv = z.object({
  ...databaseEnv,
  ...workerEnv,
  ...internalTlsEnv,
  /** Serves `/livez`, `/readyz` and `/metrics`; must not be exposed. Each worker has its own default. */
  INTERNAL_PORT: port,
  AMQP_URL: z.string().min(1),
  /** The worker's key for login, with which it requests identity tokens. Without it, destinations cannot use federation. */
  INTERNAL_KEY_FILE: z.string().min(1).optional(),
  LOGIN_URL: serviceUrls().default('http://127.0.0.1:7001'),
  /** The worker's key for secrets, with which it writes what it imports. Without it, nothing can be imported. */
  SECRETS_KEY_FILE: z.string().min(1).optional(),
  SECRETS_URL: serviceUrls().default('http://127.0.0.1:7002'),
});
export type WorkerEnv = z.infer<typeof WorkerEnv>;

const Settings = z.object(workerEnv);

/** The settings of the runtime in an environment. */
export const workerConfig = (env: z.infer<typeof Settings>) => ({
  concurrency: env.CONCURRENCY,
  largeValuesMib: env.LARGE_VALUES_MIB,
  leaseSeconds: env.LEASE_SECONDS,
  prefix: env.SECRET_NAME_PREFIX,
  installation: env.INSTALLATION,
});
