import { addressRanges } from '@secrets/access';
import { commaList, port, toggle } from '@secrets/config';
import { drainSeconds, processEnv, serviceUrls } from '@secrets/service';
import { z } from 'zod';
import { limitsEnv } from './limits-env.ts';

/** One URL, or those of several replicas. */
const url = serviceUrls('must be a URL such as http://127.0.0.1:7001, or several, separated by commas');

/** The gateway's environment. */
export const Env = z
  .object({
    ...processEnv,
    ...limitsEnv,
    PORT: port.default(8200),
    /** Where `/livez`, `/readyz` and `/metrics` are served; must not be public. */
    INTERNAL_PORT: port.default(8201),
    /** The role may read what decides about requests, decrement the uses of tokens, and count what rate limits allow. */
    DATABASE_URL: z.string().min(1),
    INTERNAL_KEY_FILE: z.string().min(1),
    /** The devices of the audit log: files, and `-` for stdout. */
    AUDIT_FILE: commaList.refine((devices) => devices.length > 0, 'must name a file, or - for stdout'),
    DRAIN_SECONDS: drainSeconds,
    LOGIN_URL: url,
    SECRETS_URL: url,
    SYNC_CONTROL_URL: url,
    /** Serves the console below `/ui/`. */
    CONSOLE: toggle.default(true),
    TLS_CERT_FILE: z.string().min(1).optional(),
    TLS_KEY_FILE: z.string().min(1).optional(),
    /** Names by which clients reach the gateway, besides those of the machine; if there are none, names are not checked. */
    ALLOWED_HOSTS: commaList.default([]),
    /** Addresses and CIDRs of proxies whose `X-Forwarded-For` is trusted; none by default. */
    TRUSTED_PROXIES: commaList
      .refine(
        (texts) => texts.every((text) => addressRanges([text]).size === 1),
        'must be addresses or CIDRs',
      )
      .default([]),
  })
  .refine((env) => (env.TLS_CERT_FILE === undefined) === (env.TLS_KEY_FILE === undefined), {
    path: ['TLS_KEY_FILE'],
    error: 'TLS_CERT_FILE and TLS_KEY_FILE must be set together',
  });
export type Env = z.infer<typeof Env>;

/** The certificate and key files for HTTPS; empty for HTTP. */
export const tlsOptions = ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: TlsEnv) =>
  certFile === undefined || keyFile === undefined ? {} : { tls: { certFile, keyFile } };

type TlsEnv = Pick<Env, 'TLS_CERT_FILE' | 'TLS_KEY_FILE'>;
