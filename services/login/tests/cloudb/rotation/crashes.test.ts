import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isLongRun } from '../../../../../tests/harness/run-size.ts';
import { rotateNow, runDueRotations } from '../../../src/auth-methods/cloudb/rotation/run-rotation.ts';
import { type Crash, CrashingProcess } from './crashing-process.ts';
import { quickly, type RotationForTest, runAs, startRotationForTest } from './rotation-for-test.ts';

let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
});
beforeEach(() => cloud.beginAgain());
afterAll(() => cloud.stop());

const rotateAs = (process: CrashingProcess) =>
  runAs(process, cloud.sandbox.url, () =>
    rotateNow(cloud.contextOf(process), cloud.mount, () => undefined, quickly),
  );

const runBackground = async () => {
  for (let run = 0; run < 3; run += 1) {
    await cloud.letTimePass();
    await runDueRotations(cloud.contextOf(), () => false, quickly);
  }
};

/** After an effect is before the next one, except that what this process would do in between is lost. */
const moments = isLongRun ? (['before', 'after'] as const) : (['after'] as const);

/** Every way to die: before and after each effect of a whole rotation; in a short run only after. */
async function deaths(): Promise<Crash[]> {
  const process = new CrashingProcess();
  expect(await rotateAs(process)).toBeUndefined();
  const numbers = Array.from({ length: process.effects }, (_, index) => index + 1);
  return numbers.flatMap((effect) => moments.map((when) => ({ effect, when })));
}

async function expectOneWorkingPassword(death: Crash): Promise<void> {
  const { passwords } = cloud.sandbox.directory;
  const found = {
    ...death,
    own: cloud.ownPasswords().length,
    stored: passwords.check(await cloud.storedSecret()),
  };
  expect(found).toEqual({ ...death, own: 1, stored: 'accepted' });
}

test('a rotation that died anywhere is completed by the next one', async () => {
  const all = await deaths();
  expect(all.length).toBeGreaterThan(20 * moments.length);
  for (const death of all) {
    await cloud.beginAgain();
    const process = new CrashingProcess(death);
    await rotateAs(process);
    expect({ ...death, died: process.isDead }).toEqual({ ...death, died: true });
    await cloud.letTimePass();
    expect(await rotateAs(new CrashingProcess())).toBeUndefined();
    await expectOneWorkingPassword(death);
    expect(cloud.ownPasswords()[0]).toMatch(/^secrets-service rotation /);
  }
});

test('the background work cleans up after a rotation that died anywhere', async () => {
  for (const death of await deaths()) {
    await cloud.beginAgain();
    await rotateAs(new CrashingProcess(death));
    await runBackground();
    await expectOneWorkingPassword(death);
  }
});
