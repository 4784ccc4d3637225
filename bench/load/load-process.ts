// The load generator: receives one job from its parent process, sends the requests, and returns the figures.
import { answerJobs } from './child.ts';
import { openConnection } from './connection.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { quantile } from './statistics.ts';

answerJobs(send);

async function send(job: LoadJob): Promise<LoadResult> {
  const milliseconds: number[] = [];
  const nextRequest = requestsOf(job);
  const usedBefore = process.cpuUsage();
  const began = performance.now();
  const end = began + job.seconds * 1_000;
  await Promise.all(
    Array.from({ length: job.connections }, () => repeat(job.url, nextRequest, end, milliseconds)),
  );
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(usedBefore);
  return {
    requests: milliseconds.length,
    perSecond: milliseconds.length / seconds,
    p50: quantile(milliseconds, 0.5),
    p99: quantile(milliseconds, 0.99),
    generatorMicroseconds: (user + system) / milliseconds.length,
  };
}

/** Sends requests over one connection, one after the other, and adds the time of each. Rejects if a response is not 2xx. */
function repeat(url: string, nextRequest: () => string, end: number, milliseconds: number[]): Promise<void> {
  const connection = openConnection(new URL(url));
  return new Promise<void>((resolve, reject) => {
    const sendNext = () => {
      const began = performance.now();
      if (began >= end) return resolve();
      connection.send(nextRequest(), (outcome) => {
        if (typeof outcome !== 'number') return reject(outcome);
        if (outcome < 200 || outcome >= 300) return reject(new Error(`response status ${outcome}`));
        milliseconds.push(performance.now() - began);
        sendNext();
      });
    };
    sendNext();
  }).finally(connection.close);
}

/** Returns a function that returns a complete request, with a random one of the paths and bodies. */
function requestsOf({ url, method, headers, paths, bodies }: LoadJob): () => string {
  const fields = Object.entries({ host: new URL(url).host, ...headers });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const starts = paths.map((path) => `${method} ${path} HTTP/1.1\r\n${head}`);
  const ends = bodies.map((body) => `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  return () => oneOf(starts) + (ends.length === 0 ? '\r\n' : oneOf(ends));
}

const oneOf = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!;
