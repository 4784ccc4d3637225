import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Requests over kept-alive connections, each with a path and a body drawn at random from those given. */
export interface LoadJob {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  paths: string[];
  /** None: requests without a body. */
  bodies: string[];
  connections: number;
  seconds: number;
}

export interface LoadResult {
  requests: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/** Sends requests for a while from a process of its own. Throws when one was not answered with 2xx. */
export async function load(job: LoadJob): Promise<LoadResult> {
  const child = fork(new URL('./load-process.ts', import.meta.url));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    child.send(job);
    const ended = once(child, 'exit').then(() => [{ failure: 'the load generator ended' }]);
    const [answer] = (await Promise.race([once(child, 'message'), ended])) as [
      LoadResult & { failure?: string },
    ];
    if (answer.failure !== undefined) throw new Error(`${job.method} ${job.url}: ${answer.failure}`);
    return answer;
  } finally {
    process.off('exit', kill);
    kill();
  }
}
