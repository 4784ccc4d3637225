import { commaList } from '@secrets/config';
import { serviceEnv } from '@secrets/service';
import { z } from 'zod';
import type { MethodOptions } from './auth-methods/registry.ts';

const httpUrl = z.url({ protocol: /^https?$/ }).optional();

/** The variables of the login methods. If a URL of cloudB is absent, the environment of each mount determines it. */
export const loginMethodEnv = {
  /** Base URL of the identity directory. */
  CLOUDB_AUTHORITY_URL: httpUrl,
  /** Base URL of the resource manager. */
  CLOUDB_RESOURCE_MANAGER_URL: httpUrl,
  /** Base URL of Graph. */
  CLOUDB_GRAPH_URL: httpUrl,
  /** Base URL of the instance metadata. */
  CLOUDB_METADATA_URL: httpUrl,
  /** `DEBUG` logs requests to the provider, with tokens and secrets masked. */
  CLOUDB_GO_SDK_LOG_LEVEL: z.string().optional(),
  /** The credentials of mounts that store none. */
  AZURE_CLIENT_ID: z.string().optional(),
  AZURE_CLIENT_SECRET: z.string().optional(),
  /** Addresses of issuers of JWTs and of clusters in addition to public ones, such as `10.0.0.1/32:6443`. */
  LOGIN_EGRESS_ALLOW: commaList.default([]),
};

const MethodEnv = z.object(loginMethodEnv);

/** The settings of the login methods. */
export const loginMethodConfig = (env: z.infer<typeof MethodEnv>): MethodOptions => ({
  authorityUrl: env.CLOUDB_AUTHORITY_URL,
  resourceManagerUrl: env.CLOUDB_RESOURCE_MANAGER_URL,
  graphUrl: env.CLOUDB_GRAPH_URL,
  metadataUrl: env.CLOUDB_METADATA_URL,
  logsRequests: env.CLOUDB_GO_SDK_LOG_LEVEL?.toUpperCase() === 'DEBUG',
  credentials: { clientId: env.AZURE_CLIENT_ID, clientSecret: env.AZURE_CLIENT_SECRET },
  egressAllow: env.LOGIN_EGRESS_ALLOW,
});

export const Env = z.object({
  ...serviceEnv(7001),
  /** The first start reads the root token from this file, or generates one and writes it there. */
  ROOT_TOKEN_FILE: z.string().min(1).optional(),
  /** The keys of the workers that may request identity tokens. If absent, those in `INTERNAL_KEY_FILE`. */
  WORKER_KEY_FILE: z.string().min(1).optional(),
  ...loginMethodEnv,
  TOKEN_SWEEP_SECONDS: z.coerce.number().int().min(1).max(3_600).default(15),
});

export interface LoginConfig extends MethodOptions {
  /** Seconds between two sweeps of expired tokens. Default: 15. */
  sweepSeconds?: number | undefined;
}
