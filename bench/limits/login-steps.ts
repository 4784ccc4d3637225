import { connections, type Rounds, type Run } from '../load/alternate.ts';
import { startChild } from '../load/child.ts';
import type { LoadResult } from '../load/load.ts';
import { median } from '../load/statistics.ts';
import type { LoginStepJob } from './login-loop.ts';

/** Input of the steps of a login. */
interface StepOptions {
  jwts: string[];
  keysUrl: string;
  issuer: string;
  audience: string;
  databaseUrl: string;
}

/** The rounds of each step alone. */
interface LoginSteps {
  verification: LoadResult[];
  insert: LoadResult[];
}

/** Measures the two steps that no login can do without, each alone and in turn: verifying the JWT, and storing a token. */
export async function loginSteps(
  { databaseUrl, ...jwts }: StepOptions,
  { rounds, seconds, log }: Rounds,
): Promise<LoginSteps> {
  const child = startChild<LoginStepJob, LoadResult>(new URL('./login-loop.ts', import.meta.url));
  const each = { seconds, concurrency: connections };
  const measured: LoginSteps = { verification: [], insert: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      measured.verification.push(await child.run({ ...each, ...jwts, step: 'verify' }));
      measured.insert.push(await child.run({ ...each, databaseUrl, step: 'insert' }));
      const [verified, inserted] = [measured.verification.at(-1)!, measured.insert.at(-1)!];
      log(
        `round ${round + 1} of ${rounds}: ${verified.perSecond.toFixed(0)} verifications/s, ${inserted.perSecond.toFixed(0)} inserts/s`,
      );
    }
    return measured;
  } finally {
    child.stop();
  }
}

/** One row for each step, and the product's share of the slower one, in the columns of `rowsOf`. */
export function stepRows({ verification, insert }: LoginSteps, product: readonly Run[]): string[][] {
  const perSecond = median(product.map((run) => run.perSecond));
  const slower = Math.min(...[verification, insert].map(medianPerSecond));
  return [
    row('verification with jose alone', verification, perSecond),
    row('insert of a token alone', insert, perSecond),
    ['share of the slower of the two', '', '', '', '', (perSecond / slower).toFixed(2), ''],
  ];
}

const medianPerSecond = (runs: readonly LoadResult[]): number => median(runs.map((run) => run.perSecond));

const row = (name: string, runs: readonly LoadResult[], product: number): string[] => [
  name,
  medianPerSecond(runs).toFixed(0),
  median(runs.map(({ p50 }) => p50)).toFixed(1),
  median(runs.map(({ p99 }) => p99)).toFixed(1),
  '',
  (product / medianPerSecond(runs)).toFixed(2),
  '',
];
