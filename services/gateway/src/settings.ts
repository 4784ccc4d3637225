import { type BuiltInLimits, isAddressRange } from '@secrets/access';
import { commaList, toggle } from '@secrets/config';
import { z } from 'zod';

const requestsPerSecond = z.coerce.number().int().min(0).max(1_000_000);

/** The variables that the gateway has in its own process and in that of all services. Each reaches its endpoints by its name. */
export const gatewayEnv = {
  /** Serves the console below `/ui/`. */
  CONSOLE: toggle.default(true),
  TLS_CERT_FILE: z.string().min(1).optional(),
  TLS_KEY_FILE: z.string().min(1).optional(),
  /** Names by which clients reach the gateway, besides those of the machine. */
  ALLOWED_HOSTS: commaList.default([]),
  /** Addresses and CIDRs of proxies whose `X-Forwarded-For` is trusted; none by default. */
  TRUSTED_PROXIES: commaList
    .refine((texts) => texts.every(isAddressRange), 'must be addresses or CIDRs')
    .default([]),
  /** Connections of clients; more are closed at once. */
  MAX_CONNECTIONS: z.coerce.number().int().min(1).max(1_000_000).default(2_000),
  /** Memory for the bodies of requests that are being received or forwarded. */
  BODY_MEMORY_MIB: z.coerce.number().int().min(8).max(65_536).default(64),
  /** Requests per second of one token; 0 for no limit. */
  TOKEN_RATE_LIMIT: requestsPerSecond.default(0),
  /** Logins per second from one address; 0 for no limit. */
  LOGIN_RATE_LIMIT: requestsPerSecond.default(5_000),
  /** Requests per second of one namespace; 0 for no limit. */
  NAMESPACE_RATE_LIMIT: requestsPerSecond.default(0),
};

const Settings = z.object(gatewayEnv);

/** The settings of the operator, or their defaults. */
export type GatewaySettings = z.infer<typeof Settings>;

/** The requests per second that are permitted besides quotas. */
export const ratesOf = (settings: GatewaySettings): BuiltInLimits => ({
  perToken: settings.TOKEN_RATE_LIMIT,
  perLoginAddress: settings.LOGIN_RATE_LIMIT,
  perNamespace: settings.NAMESPACE_RATE_LIMIT,
});

/** The certificate and key files for HTTPS; empty for HTTP. */
export const tlsFiles = ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: TlsSettings) =>
  certFile === undefined || keyFile === undefined ? {} : { tls: { certFile, keyFile } };

type TlsSettings = Pick<GatewaySettings, 'TLS_CERT_FILE' | 'TLS_KEY_FILE'>;
