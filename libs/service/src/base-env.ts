import { commaList, port } from '@secrets/config';
import { replicaUrls } from '@secrets/http';
import { z } from 'zod';

/** Variables of every process: spread them into the process's own schema. */
export const processEnv = {
  HOST: z.string().default('127.0.0.1'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
};

/** The base URL of a service, or those of its replicas, separated by commas. */
export const serviceUrls = (error = 'must be a URL, or several, separated by commas') =>
  z.string().refine((text) => replicaUrls(text).every((url) => httpUrl.safeParse(url).success), { error });

const httpUrl = z.url({ protocol: /^https?$/ });

/**
 * Seconds for which a stopping server serves requests while it reports that it is not ready. The default is longer than
 * services keep unused connections to each other (`openReplicaPool`).
 */
export const drainSeconds = z.coerce.number().min(0).max(12).default(5);

const endpoint = z.url({ protocol: /^https?$/ }).optional();

/** Variables of a process that reads keys which a key service may have wrapped. */
export const keyServiceEnv = {
  /** A name of the installation, which is authenticated with each wrapped key: another one cannot unwrap it. */
  KEY_SERVICE_CONTEXT: z.string().min(1).max(256).default('secrets-service'),
  /** Where requests to the key services go, instead of to their public endpoints. */
  AWSKMS_ENDPOINT_URL: endpoint,
  AZUREKV_ENDPOINT_URL: endpoint,
  GCPKMS_ENDPOINT_URL: endpoint,
};

/** Variables of a process with a database and encrypted data. Keys are passed as file paths, never in the environment itself. */
export const databaseEnv = {
  ...processEnv,
  DATABASE_URL: z.string().min(1),
  SEAL_KEY_FILE: z.string().min(1),
  ...keyServiceEnv,
};

/** The variable of a process that verifies rows of the database; without it, every row is believed. */
export const rowKeyEnv = { ROW_KEY_FILE: z.string().min(1).optional() };

/** The variable of a process that calls other services, or that they call. */
export const internalTlsEnv = {
  /**
   * A folder with `tls.crt`, `tls.key` and `ca.crt`: services then connect to each other over TLS, with certificates at both
   * ends.
   */
  INTERNAL_TLS_DIR: z.string().min(1).optional(),
};

/** Variables of a service behind the gateway. `PORT` is `defaultPort` by default. */
export const serviceEnv = (defaultPort: number) => ({
  ...databaseEnv,
  ...rowKeyEnv,
  PORT: port.default(defaultPort),
  /** Serves `/livez`, `/readyz` and `/metrics` in addition, without TLS; must not be exposed. */
  INTERNAL_PORT: port.optional(),
  ...internalTlsEnv,
  DRAIN_SECONDS: drainSeconds,
  INTERNAL_KEY_FILE: z.string().min(1),
});

/** Prefix of external names and built-in tags, the same for the whole installation (docs/conventions/sync.md#names). */
export const secretNamePrefix = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, {
    error: 'must begin with a lower-case letter and have at most 31 lower-case letters, digits and hyphens',
  })
  .default('secrets');

/** A name for the whole installation, by which a copy of its database that is started elsewhere differs from it. */
export const installationName = z.string().max(256, 'must have at most 256 characters').optional();

/** Calls per second that each account may make, by destination type: `cloudA-sm=200,…`. */
export const budgets = commaList
  .refine(
    (parts) => parts.every((part) => /^[\w-]+=\d+(\.\d+)?$/.test(part) && Number(part.split('=')[1]) > 0),
    {
      error: 'must be a list such as cloudA-sm=200',
    },
  )
  .transform((parts) =>
    Object.fromEntries(
      parts.map((part) => part.split('=') as [string, string]).map(([type, rate]) => [type, Number(rate)]),
    ),
  )
  .optional();
