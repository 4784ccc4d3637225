import type { BenchOptions } from '../command-line.ts';
import type { Report } from '../report.ts';
import { measureBacklog } from './backlog.ts';
import { measureDelay } from './delay.ts';
import { withSyncSetup } from './sync-setup.ts';

/** Measures the synchronization with an external store, compared with the same calls of the provider's client alone. */
export const benchSync = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, {}, async (setup) => [
    await measureBacklog(setup, options),
    await measureDelay(setup, options),
  ]);
