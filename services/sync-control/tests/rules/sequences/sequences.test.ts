import { afterAll, beforeAll, test } from '@jest/globals';
import fc from 'fast-check';
import { runSize } from '../../../../../tests/harness/run-size.ts';
import { type Operation, sequences } from './operations.ts';
import { Play } from './play.ts';
import { type Stage, startStage } from './stage.ts';

// More with: SEQUENCES=10000 npm test -- services/sync-control/tests/rules/sequences
// The same again with: SEED=<what a failure prints> npm test -- services/sync-control/tests/rules/sequences
const count = runSize('SEQUENCES', 250, 10_000);
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
/** Sequences that are played at the same time, each on a stage of its own: they mostly wait for the database. */
const stageCount = 6;

let stages: Stage[];

beforeAll(async () => {
  stages = await Promise.all(Array.from({ length: stageCount }, startStage));
});
afterAll(() => Promise.all(stages?.map((stage) => stage.stop())));

/** At once: a failing sequence is shrunk for minutes. */
const say = (line: string) => process.stderr.write(`${line}\n`);

test(`after each of ${count} random sequences, exactly what is held is associated, and outside is what they say`, async () => {
  say(`${count} sequences of the seed ${seed}`);
  const numRuns = Math.ceil(count / stageCount);
  await Promise.all(
    stages.map((stage, at) =>
      fc.assert(
        fc.asyncProperty(sequences, (operations) => playOn(stage, operations)),
        { numRuns, seed: seed + at },
      ),
    ),
  );
}, 36_000_000);

let isFailed = false;
let played = 0;
const notedEvery = 500;

async function playOn(stage: Stage, operations: readonly Operation[]): Promise<void> {
  try {
    await new Play(stage).run(operations);
    played += 1;
    if (played % notedEvery === 0) say(`${played} sequences`);
  } catch (error) {
    if (!isFailed) say(`${(error as Error).message}\n${JSON.stringify(operations)}`);
    isFailed = true;
    throw error;
  }
}
