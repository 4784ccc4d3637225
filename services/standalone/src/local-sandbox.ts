import { errorCode } from '@secrets/domain';
import type { Sandbox } from '@secrets/sandbox';
import type { Env } from './config.ts';

const defaultPort = 8300;

/**
 * Starts the sandbox of this installation; returns undefined if it is off. Without `SANDBOX_PORT`, it listens on the
 * default port, or on a free one if that is in use, for example by another installation on the same machine.
 * @throws if `SANDBOX_PORT` is in use, or the file cannot be read or written
 */
export async function startLocalSandbox(
  env: Pick<Env, 'SANDBOX' | 'SANDBOX_HOST' | 'SANDBOX_PORT' | 'ALLOWED_HOSTS'>,
  dataFile: string,
): Promise<Sandbox | undefined> {
  if (!env.SANDBOX) return undefined;
  const { startSandbox } = await import('@secrets/sandbox'); // not loaded if it is off
  const { SANDBOX_HOST: host, ALLOWED_HOSTS: allowedHosts } = env;
  const startOn = (port: number) => startSandbox({ host, port, allowedHosts, dataFile });
  if (env.SANDBOX_PORT !== undefined) return startOn(env.SANDBOX_PORT);
  return startOn(defaultPort).catch((error: unknown) => {
    if (errorCode(error) === 'EADDRINUSE') return startOn(0);
    throw error;
  });
}
