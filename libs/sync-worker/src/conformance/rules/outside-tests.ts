import { describe, expect, test } from '@jest/globals';
import type { PutRequest } from '../../driver/driver.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue } from '../put-request.ts';
import { untilReady } from '../until-ready.ts';

/**
 * Tests puts after somebody else has changed an external secret of the destination. None may succeed while anything of the
 * change is left.
 */
export function outsideTests(suite: DriverSuite, changes: readonly string[]): void {
  describe.each(changes)('after somebody else has changed it (%s)', (change) => {
    const putAfter = async (over: (request: PutRequest) => Partial<PutRequest>) => {
      const { request, remote } = await suite.putNew();
      const { externalName } = request;
      const before = await suite.harness.external(externalName);
      await suite.harness.changeOutside?.(change, externalName);
      const again = { ...request, remote, ...over(request) };
      const isSynced = await untilReady(() => suite.put(again)).then(
        () => true,
        () => suite.faultOf(() => suite.put(again)).then(() => false),
      );
      const after = await suite.harness.external(externalName);
      return { isSynced, before, after };
    };

    test('a comparison restores it, or fails', async () => {
      const { isSynced, before, after } = await putAfter(() => ({ valueChanged: false, verify: true }));
      if (isSynced) expect(after).toMatchObject({ value: `${canary} one`, tags: before!.tags });
    });

    test('the next value reaches it, or the put fails', async () => {
      const { isSynced, before, after } = await putAfter((request) => newValue(request, `${canary} two`));
      if (!isSynced) return;
      expect(after?.value).toBe(`${canary} two`);
      expect(after?.tags).toMatchObject(before!.tags);
    });
  });
}
