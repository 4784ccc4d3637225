import { commaList, port, toggle } from '@secrets/config';
import { z } from 'zod';

/** The environment of `npm start`. Everything has a default; nothing secret does. */
export const Env = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(8200),
  DATA_DIR: z.string().default('./.data'),
  /** A PostgreSQL server, version 15 or newer, in place of the embedded one. */
  DATABASE_URL: z.string().optional(),
  /** A file that holds the root token to use; without it one is made at the first start. */
  ROOT_TOKEN_FILE: z.string().optional(),
  SEAL_KEY_FILE: z.string().optional(),
  INTERNAL_KEY_FILE: z.string().optional(),
  AUDIT_FILE: z.string().optional(),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TRUSTED_PROXIES: commaList.default([]),
  LOG_LEVEL: z.string().default('warn'),
  /** Simulated external stores and directory beside the service; `off` for real ones. */
  SANDBOX: toggle.default(true),
  /** Not `HOST`: the sandbox shows every value that was pushed, and its directory gives a token to anybody who asks. */
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  /** Default: 8300, or a free one where that is taken. */
  SANDBOX_PORT: port.optional(),
  CLOUDA_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  CLOUDB_AUTHORITY_URL: z.url().optional(),
  EGRESS_ALLOW: commaList.default([]),
  EGRESS_MAY_OPEN: commaList.default([]),
  AWS_REGION: z.string().optional(),
  CONCURRENCY: z.coerce.number().int().min(1).max(256).default(16),
  LEASE_SECONDS: z.coerce.number().int().min(5).max(600).default(30),
  SECRET_NAME_PREFIX: z.string().default('secrets'),
  RECONCILE_SECONDS: z.coerce.number().int().min(1).default(300),
});

export type Env = z.infer<typeof Env>;
