import type { BuiltInLimits } from '@secrets/access';
import { z } from 'zod';

const requestsPerSecond = z.coerce.number().int().min(0).max(1_000_000);

/** The variables of the gateway's limits. */
export const limitsEnv = {
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

type LimitsEnv = { [Name in keyof typeof limitsEnv]: z.infer<(typeof limitsEnv)[Name]> };

export interface GatewayLimits {
  rates: BuiltInLimits;
  bodies: { memoryBytes: number };
}

export const gatewayLimits = (env: LimitsEnv): GatewayLimits => ({
  rates: {
    perToken: env.TOKEN_RATE_LIMIT,
    perLoginAddress: env.LOGIN_RATE_LIMIT,
    perNamespace: env.NAMESPACE_RATE_LIMIT,
  },
  bodies: { memoryBytes: env.BODY_MEMORY_MIB * 2 ** 20 },
});
