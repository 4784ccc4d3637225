import { fork } from 'node:child_process';
import { once } from 'node:events';
import { atExit } from '../../scripts/at-exit.ts';
import type { StoreJob, StoreResult } from './store-loop.ts';

/** A process that only calls the store with the provider's client. */
export interface StoreProcess {
  run(job: StoreJob): Promise<StoreResult>;
  stop(): void;
}

/** Starts the process, which is killed when this one exits. */
export function startStoreProcess(): StoreProcess {
  const child = fork(new URL('./store-loop.ts', import.meta.url));
  const kill = () => child.kill('SIGKILL');
  const forget = atExit(kill);
  return {
    run: async (job) => {
      child.send(job);
      const [answer] = (await once(child, 'message')) as [StoreResult & { failure?: string }];
      if (answer.failure !== undefined) throw new Error(`calling the store failed: ${answer.failure}`);
      return answer;
    },
    stop: () => {
      forget();
      kill();
    },
  };
}
