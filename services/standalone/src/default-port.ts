import { errorCode } from '@secrets/domain';

/**
 * Listens on the chosen port. Without one, on the default port, or on a free one if that is in use, for example by another
 * installation on the same machine.
 * @throws what `startOn` throws, also if the chosen port is in use
 */
export async function onDefaultPort<Server>(
  defaultPort: number,
  chosen: number | undefined,
  startOn: (port: number) => Promise<Server>,
): Promise<Server> {
  if (chosen !== undefined) return startOn(chosen);
  return startOn(defaultPort).catch((error: unknown) => {
    if (errorCode(error) === 'EADDRINUSE') return startOn(0);
    throw error;
  });
}
