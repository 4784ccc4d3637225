import { readFileSync } from 'node:fs';
import { startStandalone } from '../../tests/harness/standalone.ts';

/** The service that the demo uses. */
export interface DemoService {
  url: string;
  sandboxUrl: string;
  rootToken: string;
  /** Kills the service with SIGKILL and starts it again; undefined if the demo did not start it. */
  crash: (() => Promise<void>) | undefined;
  stop(): Promise<unknown>;
}

/** A running service, given by flags. */
export function runningService(flags: {
  url?: string;
  'root-token-file'?: string;
  'sandbox-url'?: string;
}): DemoService {
  const { url, 'root-token-file': file, 'sandbox-url': sandboxUrl } = flags;
  if (url === undefined || file === undefined || sandboxUrl === undefined)
    throw new Error('--url, --root-token-file and --sandbox-url must be given together');
  const rootToken = readFileSync(file, 'utf8').trim();
  return { url, sandboxUrl, rootToken, crash: undefined, stop: async () => undefined };
}

/** A service on temporary data, which is deleted when the service stops. */
export function ownService(signal: AbortSignal): Promise<DemoService> {
  console.log('Starting the service on temporary data, with the sandbox as its external store');
  return startStandalone(signal);
}
