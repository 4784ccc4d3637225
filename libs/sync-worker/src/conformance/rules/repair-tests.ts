import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import type { PutRequest } from '../../driver/driver.ts';
import type { Look } from '../../driver/look.ts';
import { driftOf } from '../../look/drift-of.ts';
import { outcomeOfLook } from '../../look/outcome-of-look.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { untilReady } from '../until-ready.ts';

const one = `${canary} one`;
const synced = { status: 'SYNCED', drift: 'none', lastError: null } as const;

const deletes = /^(delete|purge|remove)/i;

/** A repair repeats the last put, with its idempotency token, and compares. */
const repairOf = (request: PutRequest, remote: Json): PutRequest => ({
  ...request,
  remote,
  valueChanged: false,
  verify: true,
});

/**
 * Tests, for each change that somebody else can make, what a look shows with the entry, and that a repair then restores the
 * external secret. That a put leaves what the driver declares in `leavesOutside` is one of `outsideTests`.
 */
export function repairTests(suite: DriverSuite): void {
  const { changesOutside = {}, leavesOutside = {}, readsValues = true, writesOutside } = suite.subject;
  const look = ({ externalName, entryId }: PutRequest, remote: Json) =>
    suite.inspect({
      entryId,
      externalName,
      remote,
      putStartedAt: null,
      isSameValue: (value) => value.reveal() === one,
    });
  const changed = async (change: string) => {
    const { request, remote } = await suite.putNew(one);
    const before = await suite.harness.external(request.externalName);
    await suite.harness.changeOutside?.(change, request.externalName);
    return { request, remote, before };
  };

  describe.each(Object.entries(changesOutside))('after somebody else has acted (%s)', (change, shown) => {
    const { drift } = driftOf({ exists: true, ...shown } as Look, true)!;

    test(`the entry shows that the drift is "${drift}"`, async () => {
      const { request, remote } = await changed(change);
      const found = await look(request, remote);
      const conclusion = driftOf(found, true)!;
      const outcome = outcomeOfLook('repair', { look: found, conclusion, before: synced, hasSettings: true });
      expect(outcome).toMatchObject({ drift, status: drift === 'none' ? 'SYNCED' : 'CLIENT_SIDE_ERROR' });
    });

    if ((drift !== 'changed' && drift !== 'missing') || change in leavesOutside) return;

    test('a repair restores it, deletes nothing, and leaves nothing to repair', async () => {
      const { request, remote, before } = await changed(change);
      const earlier = suite.harness.writes().length;
      const repaired = await untilReady(() => suite.put(repairOf(request, remote)));
      const writes = suite.harness.writes().slice(earlier);
      expect(writes).not.toEqual([]);
      expect(writes.filter((operation) => deletes.test(operation))).toEqual([]);
      expect(writes).toEqual(writesOutside?.[change] ?? writes);
      expect(await suite.harness.external(request.externalName)).toMatchObject({
        value: one,
        tags: before!.tags,
      });
      expect(await look(request, repaired.remote)).toMatchObject({ belongs: 'own', isUntouched: true });
      if (!readsValues) return;
      await suite.put(repairOf(request, repaired.remote));
      expect(suite.harness.writes().slice(earlier)).toEqual(writes);
    });
  });

  for (const [change, { kind }] of Object.entries(leavesOutside)) {
    if (kind !== 'conflict') continue;
    test(`a set with "overwrite" takes over what somebody else has left (${change})`, async () => {
      const { request, remote, before } = await changed(change);
      const earlier = suite.harness.writes().length;
      const set = { ...repairOf(request, remote), overwrite: true };
      const taken = await untilReady(() => suite.put(set));
      const writes = suite.harness.writes().slice(earlier);
      expect(writes.filter((operation) => deletes.test(operation))).toEqual([]);
      expect(writes).toEqual(writesOutside?.[change] ?? writes);
      const { value, tags } = (await suite.harness.external(request.externalName))!;
      expect({ value, tags }).toMatchObject({ value: one, tags: before!.tags });
      expect(await look(request, taken.remote)).toMatchObject({ belongs: 'own', isUntouched: true });
      await untilReady(() => suite.remove(request, taken.remote));
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });
  }
}
