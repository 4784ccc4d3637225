// Only repeats one step of a login: receives jobs from its parent process, and returns the figures.
import { randomUUID } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { answerJobs } from '../load/child.ts';
import type { LoadResult } from '../load/load.ts';
import { quantile } from '../load/statistics.ts';
import { bareSql } from '../skeleton/bare-sql.ts';
import { insertBareToken } from '../skeleton/token-insert.ts';

export type LoginStepJob = { seconds: number; concurrency: number } & (
  | { step: 'verify'; jwts: string[]; keysUrl: string; issuer: string; audience: string }
  | { step: 'insert'; databaseUrl: string }
);

type Step = () => Promise<unknown>;
/** Prepared steps, so that connections and keys survive from one job to the next. */
const steps = new Map<LoginStepJob['step'], Step>();

async function run(job: LoginStepJob): Promise<LoadResult> {
  const step = steps.get(job.step) ?? prepared(job);
  steps.set(job.step, step);
  await step();
  const milliseconds: number[] = [];
  const began = performance.now();
  const end = began + job.seconds * 1_000;
  const repeat = async () => {
    for (let at = performance.now(); at < end; at = performance.now()) {
      await step();
      milliseconds.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: job.concurrency }, repeat));
  const seconds = (performance.now() - began) / 1_000;
  return {
    requests: milliseconds.length,
    perSecond: milliseconds.length / seconds,
    p50: quantile(milliseconds, 0.5),
    p99: quantile(milliseconds, 0.99),
  };
}

function prepared(job: LoginStepJob): Step {
  if (job.step === 'insert') {
    const sql = bareSql(job.databaseUrl);
    return () => insertBareToken(sql, randomUUID(), 'bench');
  }
  const { jwts, issuer, audience } = job;
  const keys = createRemoteJWKSet(new URL(job.keysUrl));
  let next = 0;
  return () => {
    next += 1;
    return jwtVerify(jwts[next % jwts.length]!, keys, { issuer, audience, algorithms: ['RS256'] });
  };
}

answerJobs(run);
