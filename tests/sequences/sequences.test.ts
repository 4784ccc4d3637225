import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sandboxTypes } from '../harness/destination-types.ts';
import { type Api, send } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { runSize } from '../harness/run-size.ts';
import { InstalledDatabase } from './installed-database.ts';
import { type Sequence, sequences } from './operations.ts';
import { Play, type Stage } from './play.ts';

// More with: SEQUENCES=20000 npm test -- tests/sequences
// The same again with: SEED=<what a failure prints> npm test -- tests/sequences
const count = runSize('SEQUENCES', 150, 2_000);
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const concurrency = 24;
const crashEveryMs = 8_000;
const pauseEveryMs = 3_000;
const retryMs = 100;

let system: Installation;
let stage: Stage;

beforeAll(async () => {
  process.env.BUDGETS = sandboxTypes.map(({ type }) => `${type}=100000`).join(',');
  // Removals are never confirmed here, and most destinations have only a few external secrets.
  process.env.REMOVAL_BRAKE_PERCENT = '100';
  system = await startInstallation();
  const { body } = await send(`${system.sandboxUrl}/_sandbox/about`, 'GET');
  const credentials = Object.fromEntries(
    sandboxTypes.map(({ type }) => [type, body.stores[type].credentials]),
  );
  stage = {
    sandboxUrl: system.sandboxUrl,
    database: new InstalledDatabase(system),
    api: repeated(system.api),
    types: sandboxTypes,
    credentials,
  };
});
afterAll(async () => {
  await stage?.database.close();
  await system?.stop();
});

/** Repeats requests that were not answered, or that a service that is starting refused. */
const repeated =
  (api: Api): Api =>
  async (...request) => {
    for (;;) {
      const answer = await api(...request).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
      await sleep(retryMs);
    }
  };

test(`after each of ${count} random sequences, every store holds exactly what it should`, async () => {
  const all = fc.sample(sequences(sandboxTypes.length), { numRuns: count, seed });
  const ended = new AbortController();
  const weather = Promise.all([crashes(ended.signal), pauses(ended.signal)]);
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
  ended.abort();
  await weather;
  expect(failures).toEqual([]);
}, 3_600_000);

const play = (sequence: Sequence, at: number): Promise<void> =>
  new Play(stage, String(at), sequence).run(sequence.operations);

/** Kills the service now and then. */
async function crashes(signal: AbortSignal): Promise<void> {
  while (await elapses(crashEveryMs, signal)) await system.crash();
}

/** Disables syncing now and then, for a moment. */
async function pauses(signal: AbortSignal): Promise<void> {
  while (await elapses(pauseEveryMs, signal)) {
    await stage.api('PATCH', 'sys/sync/config', { disabled: true });
    await sleep(300);
    await stage.api('PATCH', 'sys/sync/config', { disabled: false });
  }
}

/** Resolves after the time, with false if the signal has aborted. */
const elapses = (ms: number, signal: AbortSignal): Promise<boolean> =>
  sleep(ms, undefined, { signal }).then(
    () => true,
    () => false,
  );
