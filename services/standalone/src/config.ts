import { commaList, port, toggle } from '@secrets/config';
import { gatewayEnv } from '@secrets/gateway';
import { loginMethodEnv } from '@secrets/login';
import { keyServiceEnv, processEnv } from '@secrets/service';
import { syncControlEnv } from '@secrets/sync-control';
import { workerEnv } from '@secrets/sync-worker';
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
  ROW_KEY_FILE: z.string().optional(),
  ...keyServiceEnv,
  /** Files, and `-` for stdout. By default, a file in `DATA_DIR`. */
  AUDIT_FILE: commaList.default([]),
  ...gatewayEnv,
  /** Where probes and metrics are served; they need no token. */
  INTERNAL_HOST: z.string().default('127.0.0.1'),
  /** Default: 8201, or a free port if that is in use. */
  INTERNAL_PORT: port.optional(),
  /** Permits plain HTTP, or the sandbox, on an address that other machines can reach. */
  INSECURE: toggle.default(false),
  /** Runs simulated external stores and an identity directory in this process; `off` to use real ones. */
  SANDBOX: toggle.default(true),
  /** Independent of `HOST`: the sandbox shows every pushed value, and its directory issues a token to anybody. */
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  /** Default: 8300, or a free port if that is in use. */
  SANDBOX_PORT: port.optional(),
  CLOUDA_WORKER_IDENTITY: workerIdentity,
  CLOUDA_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  CLOUDB_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  ...loginMethodEnv,
  CLOUDC_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  CODEHOST_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  WEBHOST_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  AWS_REGION: z.string().optional(),
  GOOGLE_APPLICATION_CREDENTIALS: z.string().optional(),
  GCE_METADATA_HOST: z.string().optional(),
  ...workerEnv,
  ...syncControlEnv,
});

export type Env = z.infer<typeof Env>;
