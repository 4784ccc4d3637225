import { commaList, port, toggle } from '@secrets/config';
import { limitsEnv } from '@secrets/gateway';
import { cloudBEnv } from '@secrets/login';
import { budgets, processEnv, secretNamePrefix } from '@secrets/service';
import { maxAheadSeconds } from '@secrets/sync-entries';
import { workerIdentity } from '@secrets/sync-worker-clouda-sm/worker-identity';
import { z } from 'zod';

/** The environment of `npm start`. Every variable has a default or is optional; no secret has a default. */
export const Env = z.object({
  ...processEnv,
  LOG_LEVEL: processEnv.LOG_LEVEL.unwrap().default('warn'),
  PORT: port.default(8200),
  DATA_DIR: z.string().default('./.data'),
  /** A PostgreSQL server, version 15 or newer, in place of the embedded one. */
  DATABASE_URL: z.string().optional(),
  /** A file with the root token to use. By default, the first start generates one. */
  ROOT_TOKEN_FILE: z.string().optional(),
  SEAL_KEY_FILE: z.string().optional(),
  INTERNAL_KEY_FILE: z.string().optional(),
  /** Files, and `-` for stdout. By default, a file in `DATA_DIR`. */
  AUDIT_FILE: commaList.default([]),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TRUSTED_PROXIES: commaList.default([]),
  /** Names by which clients reach the service and the sandbox, besides those of the machine. */
  ALLOWED_HOSTS: commaList.default([]),
  /** Permits plain HTTP, or the sandbox, on an address that other machines can reach. */
  INSECURE: toggle.default(false),
  ...limitsEnv,
  CONSOLE: toggle.default(true),
  /** Runs simulated external stores and an identity directory in this process; `off` to use real ones. */
  SANDBOX: toggle.default(true),
  /** Independent of `HOST`: the sandbox shows every pushed value, and its directory issues a token to anybody. */
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  /** Default: 8300, or a free port if that is in use. */
  SANDBOX_PORT: port.optional(),
  CLOUDA_WORKER_IDENTITY: workerIdentity,
  CLOUDA_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  CLOUDB_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  ...cloudBEnv,
  CLOUDC_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  CODEHOST_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  WEBHOST_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  EGRESS_ALLOW: commaList.default([]),
  EGRESS_MAY_OPEN: commaList.default([]),
  AWS_REGION: z.string().optional(),
  GOOGLE_APPLICATION_CREDENTIALS: z.string().optional(),
  GCE_METADATA_HOST: z.string().optional(),
  CONCURRENCY: z.coerce.number().int().min(1).max(256).default(16),
  LARGE_VALUES_MIB: z.coerce.number().int().min(1).max(4_096).default(16),
  LEASE_SECONDS: z.coerce.number().int().min(5).max(maxAheadSeconds.lease).default(30),
  SECRET_NAME_PREFIX: secretNamePrefix,
  BUDGETS: budgets,
  RECONCILE_SECONDS: z.coerce.number().int().min(1).default(300),
  REMOVAL_BRAKE_ENTRIES: z.coerce.number().int().min(1).default(10),
  REMOVAL_BRAKE_PERCENT: z.coerce.number().min(0).max(100).default(20),
});

export type Env = z.infer<typeof Env>;
