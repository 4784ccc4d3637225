import { startChild } from './child.ts';

/** Requests over keep-alive connections, each with a random one of the paths and bodies. */
export interface LoadJob {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  paths: string[];
  /** ASCII. If empty, the requests have no body. */
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
  /** CPU time of the load generator for each request; undefined if nothing was sent over HTTP. */
  generatorMicroseconds?: number;
}

/** A process that sends requests. */
export interface LoadGenerator {
  /** Throws if a response is not 2xx. */
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

/** Starts a process that sends requests, for many short jobs. */
export const startLoad = (): LoadGenerator =>
  startChild<LoadJob, LoadResult>(new URL('./load-process.ts', import.meta.url));

/** Sends requests from a process of its own. Throws if a response is not 2xx. */
export async function load(job: LoadJob): Promise<LoadResult> {
  const child = startLoad();
  try {
    return await child.run(job);
  } catch (cause) {
    throw new Error(`${job.method} ${job.url} failed`, { cause });
  } finally {
    child.stop();
  }
}
