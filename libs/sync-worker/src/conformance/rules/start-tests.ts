import { describe, expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import type { PutRequest } from '../../driver/driver.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue, putRequest } from '../put-request.ts';

/** Tests ownership for stores whose secrets do not show which destination wrote them. */
export function startTests(suite: DriverSuite): void {
  /** A first put, and what happens when it records its start. */
  const firstPut = (onStart: () => void): PutRequest => {
    const recordStart = async () => onStart();
    return putRequest(suite.harness.freshName(), `${canary} one`, { recordStart });
  };
  /** A put whose process dies after the store has written and before the driver learns of it. */
  const diedAfterWriting = async (): Promise<PutRequest> => {
    const request = firstPut(() => suite.harness.inject('diesAfterActing'));
    expect((await suite.faultOf(() => suite.put(request))).kind).toBe('unavailable');
    expect(await suite.valueOf(request.externalName)).toBe(`${canary} one`);
    return { ...request, recordStart: async () => {} };
  };

  describe('the start of a put', () => {
    test('is recorded before the first write, and not needed once the put has succeeded', async () => {
      const held: unknown[] = [];
      const request = firstPut(() => held.push(suite.harness.external(request.externalName)));
      const { remote } = await suite.put(request);
      await suite.put({ ...request, ...newValue(request, `${canary} two`), remote });
      expect(await Promise.all(held)).toEqual([undefined]);
    });

    test('lets the next put overwrite what the lost one has written', async () => {
      const request = await diedAfterWriting();
      const { remote } = await suite.put({ ...request, ...newValue(request, `${canary} two`) });
      expect(remote).not.toBeNull();
      expect(await suite.valueOf(request.externalName)).toBe(`${canary} two`);
    });

    test('lets a removal delete what the lost put has written', async () => {
      const request = await diedAfterWriting();
      await suite.remove(request);
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });

    test('is not recorded for a foreign secret, which therefore stays foreign to every later call', async () => {
      let starts = 0;
      const request = firstPut(() => {
        starts += 1;
      });
      await suite.harness.plantForeign(request.externalName, 'theirs');
      for (let attempt = 1; attempt <= 2; attempt += 1)
        expect((await suite.faultOf(() => suite.put(request))).kind).toBe('conflict');
      await suite.remove(request);
      expect(starts).toBe(0);
      expect(await suite.valueOf(request.externalName)).toBe('theirs');
    });

    test('does not make a secret its own that is created after a removal', async () => {
      const { request, remote } = await suite.putNew();
      await suite.remove(request, remote);
      await suite.harness.plantForeign(request.externalName, 'theirs');
      expect((await suite.faultOf(() => suite.put(request))).kind).toBe('conflict');
      await suite.remove(request);
      expect(await suite.valueOf(request.externalName)).toBe('theirs');
    });

    test.each(['forbidden', 'unauthenticated', 'throttled'] as const)(
      'is forgotten if the write is refused as %s: a secret that appears later is foreign',
      async (refusal) => {
        const request = firstPut(() => suite.harness.inject(refusal));
        expect((await suite.faultOf(() => suite.put(request))).kind).toBe(refusal);
        suite.harness.clear();
        await suite.harness.plantForeign(request.externalName, 'theirs');
        const again = { ...request, recordStart: async () => {} };
        expect((await suite.faultOf(() => suite.put(again))).kind).toBe('conflict');
        await suite.remove(request);
        expect(await suite.valueOf(request.externalName)).toBe('theirs');
      },
    );

    test('is recorded when a foreign secret is taken over, so that a lost put can be removed', async () => {
      const request = firstPut(() => suite.harness.inject('diesAfterActing'));
      await suite.harness.plantForeign(request.externalName, 'theirs');
      await suite.faultOf(() => suite.put({ ...request, overwrite: true }));
      expect(await suite.valueOf(request.externalName)).toBe(`${canary} one`);
      await suite.remove(request);
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });

    test('ends the put without a write if it cannot be recorded', async () => {
      const request = firstPut(() => {
        throw new Fault('unavailable', 'the lease was lost');
      });
      expect((await suite.faultOf(() => suite.put(request))).message).toBe('the lease was lost');
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });
  });
}
