import { fork } from 'node:child_process';
import { once } from 'node:events';
import { atExit } from '../../scripts/at-exit.ts';

/** Requests over keep-alive connections, each with a random one of the paths and bodies. */
export interface LoadJob {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  paths: string[];
  /** If empty, the requests have no body. */
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

/** Sends requests from a process of its own. Throws if a response is not 2xx. */
export async function load(job: LoadJob): Promise<LoadResult> {
  const child = fork(new URL('./load-process.ts', import.meta.url));
  const kill = () => child.kill('SIGKILL');
  const forget = atExit(kill);
  try {
    child.send(job);
    const exited = new AbortController();
    child.once('exit', () => exited.abort(new Error('the load generator exited')));
    const [answer] = (await once(child, 'message', { signal: exited.signal })) as [
      LoadResult & { failure?: string },
    ];
    if (answer.failure !== undefined) throw new Error(`${job.method} ${job.url}: ${answer.failure}`);
    return answer;
  } finally {
    forget();
    kill();
  }
}
