import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

const pauseMs = 10;

/** Updates a row of a table of its own again and again until `work` ends. Returns how long the slowest commit took, in ms. */
export async function slowestCommitDuring(database: pg.Client, work: () => Promise<void>): Promise<number> {
  await database.query('create table if not exists public.bench_commits as select 0 as commits');
  let slowest = 0;
  let ended = false;
  const commits = async () => {
    while (!ended) {
      const began = performance.now();
      await database.query('update public.bench_commits set commits = commits + 1');
      slowest = Math.max(slowest, performance.now() - began);
      await sleep(pauseMs);
    }
  };
  const working = work().finally(() => {
    ended = true;
  });
  await Promise.all([commits(), working]);
  return slowest;
}
