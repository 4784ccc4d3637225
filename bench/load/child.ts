import { fork } from 'node:child_process';
import { once } from 'node:events';
import { atExit } from '../../scripts/test-services/at-exit.ts';

/** A process that only measures, so that the measurement does not compete with this one's event loop. */
export interface Child<Job, Result> {
  /** Sends a job and resolves with its result. Throws if the job failed, or if the process exited. */
  run(job: Job): Promise<Result>;
  stop(): void;
}

/** Starts a program that calls `answerJobs`. It is killed when this process exits. */
export function startChild<Job extends object, Result>(program: URL): Child<Job, Result> {
  const child = fork(program);
  const kill = () => child.kill('SIGKILL');
  const forget = atExit(kill);
  return {
    run: async (job) => {
      const exited = new AbortController();
      const onExit = () => exited.abort(new Error(`${program.pathname} exited`));
      child.once('exit', onExit);
      try {
        child.send(job);
        const [answer] = (await once(child, 'message', { signal: exited.signal })) as [
          { result: Result } | { failure: string },
        ];
        if ('failure' in answer) throw new Error(answer.failure);
        return answer.result;
      } finally {
        child.off('exit', onExit);
      }
    },
    stop: () => {
      forget();
      kill();
    },
  };
}

/** In the program of such a process: answers each job of the parent process. */
export function answerJobs<Job, Result>(run: (job: Job) => Promise<Result>): void {
  process.on('message', (job: Job) => {
    run(job).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ failure: String(error) }),
    );
  });
}
