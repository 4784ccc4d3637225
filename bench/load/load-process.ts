// The load generator: receives one job from its parent process, sends the requests, and returns the figures.
import autocannon from 'autocannon';
import { answerJobs } from './child.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { quantile } from './statistics.ts';

answerJobs(send);

async function send({ paths, bodies, seconds, ...job }: LoadJob): Promise<LoadResult> {
  const milliseconds: number[] = [];
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    const body = bodies.length === 0 ? {} : { body: oneOf(bodies) };
    return { ...request, path: oneOf(paths), ...body };
  };
  let failure = '';
  const { duration, errors, timeouts } = await new Promise<autocannon.Result>((resolve, reject) => {
    const requests = [{ method: job.method, headers: job.headers, setupRequest }];
    const running = autocannon({ ...job, duration: seconds, requests }, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
    running.on('response', (_client, status, _bytes, responseMs) => {
      milliseconds.push(responseMs);
      if (status >= 300) failure ||= `response status ${status}`;
    });
  });
  if (errors + timeouts > 0) failure ||= `${errors} errors, ${timeouts} timeouts`;
  if (failure !== '') throw new Error(failure);
  return {
    requests: milliseconds.length,
    perSecond: milliseconds.length / duration,
    p50: quantile(milliseconds, 0.5),
    p99: quantile(milliseconds, 0.99),
  };
}

const oneOf = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!;
