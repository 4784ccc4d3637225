import type { Sandbox } from '@secrets/sandbox';
import type { Env } from './config.ts';
import { onDefaultPort } from './default-port.ts';

/**
 * Starts the sandbox of this installation; returns undefined if it is off. Without `SANDBOX_PORT`, it listens on port 8300, or
 * on a free one.
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
  return onDefaultPort(8300, env.SANDBOX_PORT, startOn);
}
