import { join } from 'node:path';
import { commaList, port } from '@secrets/config';
import {
  drainSeconds,
  internalTlsEnv,
  keyServiceEnv,
  processEnv,
  rowKeyEnv,
  serviceUrls,
} from '@secrets/service';
import { z } from 'zod';
import { gatewayEnv } from './settings.ts';

/** One URL, or those of several replicas. */
const url = serviceUrls('must be a URL such as http://127.0.0.1:7001, or several, separated by commas');

/** The gateway's environment. */
export const Env = z
  .object({
    ...processEnv,
    ...gatewayEnv,
    PORT: port.default(8200),
    /** Where `/livez`, `/readyz` and `/metrics` are served; must not be public. */
    INTERNAL_PORT: port.default(8201),
    /** The role may read what decides about requests, decrement the uses of tokens, and count what rate limits allow. */
    DATABASE_URL: z.string().min(1),
    INTERNAL_KEY_FILE: z.string().min(1),
    ...rowKeyEnv,
    ...keyServiceEnv,
    ...internalTlsEnv,
    /** The devices of the audit log: files, and `-` for stdout. */
    AUDIT_FILE: commaList.refine((devices) => devices.length > 0, 'must name a file, or - for stdout'),
    DRAIN_SECONDS: drainSeconds,
    LOGIN_URL: url,
    SECRETS_URL: url,
    SYNC_CONTROL_URL: url,
  })
  .refine((env) => (env.TLS_CERT_FILE === undefined) === (env.TLS_KEY_FILE === undefined), {
    path: ['TLS_KEY_FILE'],
    error: 'TLS_CERT_FILE and TLS_KEY_FILE must be set together',
  });

/** The files of the certificate that clients see: by default, that for calls between services, if there is one. */
export function publicCertificate({
  TLS_CERT_FILE,
  TLS_KEY_FILE,
  INTERNAL_TLS_DIR: folder,
}: z.infer<typeof Env>) {
  if (TLS_CERT_FILE !== undefined || folder === undefined) return { TLS_CERT_FILE, TLS_KEY_FILE };
  return { TLS_CERT_FILE: join(folder, 'tls.crt'), TLS_KEY_FILE: join(folder, 'tls.key') };
}
