import { ConfigError } from '@secrets/config';
import { DatabaseStartError } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import type { Env } from './config.ts';

/** What to do about a start that failed, in a sentence; undefined when only the error itself says it. */
export function startFailure(error: unknown, env: Env | undefined): string | undefined {
  if (error instanceof ConfigError || error instanceof DatabaseStartError) return error.message;
  if (errorCode(error) !== 'EADDRINUSE') return undefined;
  const { address, port } = error as { address?: string; port?: number };
  const variable = port === env?.SANDBOX_PORT ? 'SANDBOX_PORT' : 'PORT';
  return `${address}:${port} is in use: stop what listens there, or name another port with ${variable}`;
}
