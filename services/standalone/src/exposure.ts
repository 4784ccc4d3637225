import { ConfigError } from '@secrets/config';
import type { Logger } from '@secrets/telemetry';
import type { Env } from './config.ts';

type Exposed = Pick<Env, 'HOST' | 'SANDBOX' | 'SANDBOX_HOST' | 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'INSECURE'>;

/**
 * Refuses to be reachable from other machines in a form that is only for trying it out, unless `INSECURE` is set; then it warns.
 * @throws {ConfigError} with what to set instead
 */
export function warnOfExposure(env: Exposed, log: Pick<Logger, 'warn'>): void {
  const reasons = exposures(env);
  if (reasons.length === 0) return;
  const isRefused = env.SANDBOX && !env.INSECURE;
  if (isRefused) throw new ConfigError(`${reasons.join('\n')}\n${remedy}`);
  for (const reason of reasons) log.warn({}, `INSECURE: ${reason}`);
}

const remedy =
  'Set TLS_CERT_FILE and TLS_KEY_FILE and SANDBOX=off, or leave HOST at 127.0.0.1. To accept this on a network that you trust, set INSECURE=1.';

function exposures(env: Exposed): string[] {
  const hasTls = env.TLS_CERT_FILE !== undefined && env.TLS_KEY_FILE !== undefined;
  const withSandbox = env.SANDBOX
    ? ', and the sandbox is on, whose directory issues a token for any identity'
    : '';
  return [
    isReachable(env.HOST) && !hasTls
      ? `HOST=${env.HOST}: every machine that reaches this one can read tokens and secrets in plain HTTP${withSandbox}`
      : undefined,
    env.SANDBOX && isReachable(env.SANDBOX_HOST)
      ? `SANDBOX_HOST=${env.SANDBOX_HOST}: every machine that reaches this one can read what is pushed, and log in with any identity`
      : undefined,
  ].filter((reason) => reason !== undefined);
}

const isReachable = (host: string): boolean => !/^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
