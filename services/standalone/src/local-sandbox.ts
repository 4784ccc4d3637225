import { errorCode } from '@secrets/domain';
import { type Sandbox, startSandbox } from '@secrets/sandbox';
import type { Env } from './config.ts';

const usualPort = 8300;

/**
 * The sandbox of this installation; undefined when it is off. Without a port of its own choice it takes the usual one,
 * or a free one where that is taken: by the sandbox of a second installation on the machine.
 * @throws when the port asked for is taken or the file cannot be read or written
 */
export async function sandboxBeside(
  env: Pick<Env, 'SANDBOX' | 'SANDBOX_HOST' | 'SANDBOX_PORT'>,
  dataFile: string,
): Promise<Sandbox | undefined> {
  if (!env.SANDBOX) return undefined;
  const at = (port: number) => startSandbox({ host: env.SANDBOX_HOST, port, dataFile });
  if (env.SANDBOX_PORT !== undefined) return at(env.SANDBOX_PORT);
  return at(usualPort).catch((error: unknown) => {
    if (errorCode(error) === 'EADDRINUSE') return at(0);
    throw error;
  });
}
