import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { StoreJob, StoreLoop } from './store-loop.ts';

/** A process that calls the store with the provider's client and does nothing else. */
export interface StoreLooper {
  run(job: StoreJob): Promise<StoreLoop>;
  stop(): void;
}

/** Starts it; it ends with this process. */
export function startStoreLooper(): StoreLooper {
  const child = fork(new URL('./store-loop.ts', import.meta.url));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  return {
    run: async (job) => {
      child.send(job);
      const [answer] = (await once(child, 'message')) as [StoreLoop & { failure?: string }];
      if (answer.failure !== undefined) throw new Error(`the calls of the limit failed: ${answer.failure}`);
      return answer;
    },
    stop: () => {
      process.off('exit', kill);
      kill();
    },
  };
}
