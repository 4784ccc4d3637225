import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import type { PutRequest } from '../../driver/driver.ts';
import { checkStaleSequences } from '../driver-sequences.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue, putRequest } from '../put-request.ts';
import { untilReady } from '../until-ready.ts';

const lagMs = 300;

/** Tests a driver on reads that are older than its own writes: it never ends with another state than the one requested. */
export function staleTests(suite: DriverSuite): void {
  const one = `${canary} one`;
  const two = `${canary} two`;
  /** Repeats a put as the runtime does. A conflict is repeated too: the secret that was in the way may be gone. */
  const put = (request: PutRequest) => untilReady(() => suite.put(request), ['not_ready', 'conflict']);
  const remove = (request: PutRequest, remote: Json) => untilReady(() => suite.remove(request, remote));
  const changed = (request: PutRequest, value: string, over: Partial<PutRequest>) => ({
    ...request,
    ...newValue(request, value),
    ...over,
  });
  /** Puts a secret, and makes reads show it as it is now for a while, whatever follows. */
  const putBeforeLag = async () => {
    const created = await suite.putNew(one);
    await sleep(lagMs + 50);
    suite.harness.lag(lagMs);
    return created;
  };

  describe('while reads and lists lag behind', () => {
    test.each([
      ['', {}],
      [', which may have been written already', { verify: true }],
    ])('a value that returns is written%s', async (_, over) => {
      const { request, remote } = await putBeforeLag();
      const second = await put(changed(request, two, { remote }));
      expect(await suite.valueOf(request.externalName)).toBe(two);
      const third = await put(changed(request, one, { remote: second.remote, ...over }));
      expect(await suite.valueOf(request.externalName)).toBe(one);
      await put(changed(request, two, { remote: third.remote }));
      expect(await suite.valueOf(request.externalName)).toBe(two);
    });

    test('a comparison does not bring back an earlier value', async () => {
      const { request, remote } = await putBeforeLag();
      const next = changed(request, two, { remote });
      const second = await put(next);
      const third = await put({ ...next, remote: second.remote, valueChanged: false, verify: true });
      expect(await suite.valueOf(request.externalName)).toBe(two);
      await sleep(lagMs);
      await put({ ...next, remote: third.remote, valueChanged: false, verify: true });
      expect(await suite.valueOf(request.externalName)).toBe(two);
    });

    test('a new secret gets the next value, and is removed', async () => {
      suite.harness.lag(lagMs);
      const { request, remote } = await suite.putNew(one);
      const second = await put(changed(request, two, { remote, verify: true }));
      expect(await suite.valueOf(request.externalName)).toBe(two);
      await remove(request, second.remote);
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });

    test('a secret that was removed is written again, although it is still shown', async () => {
      const { request, remote } = await putBeforeLag();
      await remove(request, remote);
      const again = putRequest(request.externalName, one);
      const { remote: created } = await put(again);
      expect(await suite.valueOf(request.externalName)).toBe(one);
      await put(changed(again, two, { remote: created }));
      expect(await suite.valueOf(request.externalName)).toBe(two);
      await sleep(lagMs);
      expect(await suite.valueOf(request.externalName)).toBe(two);
    });

    test('a secret that is removed, written and removed again is gone', async () => {
      const { request, remote } = await putBeforeLag();
      await remove(request, remote);
      const again = putRequest(request.externalName, two);
      const { remote: created } = await put(again);
      await remove(again, created);
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });

    test('a secret that was renamed and back is where it was last requested', async () => {
      const { request, remote } = await putBeforeLag();
      const renamed = putRequest(suite.harness.freshName(), one);
      const second = await put(renamed);
      await remove(request, remote);
      const back = putRequest(request.externalName, one);
      await put(back);
      await remove(renamed, second.remote);
      expect(await suite.valueOf(request.externalName)).toBe(one);
      expect(await suite.harness.external(renamed.externalName)).toBeUndefined();
    });

    test('a secret that was taken over gets the next value', async () => {
      const request = putRequest(suite.harness.freshName(), one);
      await suite.harness.plantForeign(request.externalName, 'theirs');
      await sleep(lagMs + 50);
      suite.harness.lag(lagMs);
      const { remote } = await suite.put({ ...request, overwrite: true });
      await put(changed(request, two, { remote }));
      expect(await suite.valueOf(request.externalName)).toBe(two);
    });

    test('any sequence of intents ends with the last intent', () =>
      checkStaleSequences(suite.harness, suite.connected));
  });
}
