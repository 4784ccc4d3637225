import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sandboxTypes } from '../harness/destination-types.ts';
import { type Api, send } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { isLongRun, runSize } from '../harness/run-size.ts';
import { InstalledDatabase } from './installed-database.ts';
import { type Sequence, sequences } from './operations.ts';
import { Play, type Stage } from './play.ts';
import { Weather } from './weather.ts';

// More with: SEQUENCES=20000 npm test -- tests/sequences
// The same again with: SEED=<what a failure prints> npm test -- tests/sequences
const count = runSize('SEQUENCES', 48, 2_000);
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const concurrency = 24;
/** Longer than a busy machine needs for a failover, if there is time: a call that ends before it proves nothing. */
const hungMs = isLongRun ? 12_000 : 4_000;
/** A lease is as short as hung calls permit: what only a lost claim holds waits until it ends. */
const leasePerCall = 2.5;
const retryMs = 100;
/** The time in which a service that was killed is ready again. */
const awayMs = 300_000;

let system: Installation;
let stage: Stage;

beforeAll(async () => {
  process.env.BUDGETS = sandboxTypes.map(({ type }) => `${type}=100000`).join(',');
  // Removals are never confirmed here, and most destinations have only a few external secrets.
  process.env.REMOVAL_BRAKE_PERCENT = '100';
  process.env.LEASE_SECONDS = `${(hungMs * leasePerCall) / 1_000}`;
  system = await startInstallation();
  const { body } = await send(`${system.sandboxUrl}/_sandbox/about`, 'GET');
  const types = sandboxTypes.map(({ type }) => type);
  const credentials = Object.fromEntries(types.map((type) => [type, body.stores[type].credentials]));
  const api = repeated(system.api);
  const weather = new Weather(system, { api, types, hungMs, isStormy: isLongRun });
  const database = new InstalledDatabase(system);
  stage = { sandboxUrl: system.sandboxUrl, database, api, types: sandboxTypes, credentials, weather };
});
afterAll(async () => {
  await stage?.database.close();
  await system?.stop();
});

/** Repeats requests that were not answered, or that a service that is starting refused; in vain if it never starts. */
const repeated =
  (api: Api): Api =>
  async (...request) => {
    for (const deadline = Date.now() + awayMs; Date.now() < deadline; await sleep(retryMs)) {
      const answer = await api(...request).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
    }
    throw new Error('the service does not answer any more');
  };

test(`after each of ${count} random sequences, every store holds exactly what it should`, async () => {
  const all = fc.sample(sequences(sandboxTypes.length), { numRuns: count, seed });
  stage.weather.start();
  const failures: string[] = [];
  let next = 0;
  const player = async () => {
    while (next < all.length && failures.length === 0) {
      const at = next++;
      await play(all[at]!, at).catch((error: unknown) =>
        failures.push(
          `sequence ${at} of seed ${seed}: ${(error as Error).message}\n${JSON.stringify(all[at])}`,
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: concurrency }, player));
  await stage.weather.stop();
  expect(failures).toEqual([]);
}, 3_600_000);

const play = (sequence: Sequence, at: number): Promise<void> =>
  new Play(stage, String(at), sequence).run(sequence.operations);
