import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue, putRequest } from '../put-request.ts';

/** Tests that secrets of others are neither changed nor removed. */
export function ownershipTests(suite: DriverSuite): void {
  test('removing an absent secret succeeds', async () => {
    const name = suite.harness.freshName();
    await suite.removeUnput(name);
    expect(await suite.harness.external(name)).toBeUndefined();
  });

  test('remove leaves a foreign secret unchanged', async () => {
    const name = suite.harness.freshName();
    await suite.harness.plantForeign(name, 'theirs');
    await suite.removeUnput(name);
    expect(await suite.valueOf(name)).toBe('theirs');
  });

  test('put refuses a foreign secret, or takes it over with overwrite', async () => {
    const request = putRequest(suite.harness.freshName(), `${canary} ours`);
    await suite.harness.plantForeign(request.externalName, 'theirs');
    expect((await suite.faultOf(() => suite.put(request))).kind).toBe('conflict');
    expect(await suite.valueOf(request.externalName)).toBe('theirs');
    const { remote } = await suite.put({ ...request, overwrite: true });
    expect(await suite.valueOf(request.externalName)).toBe(`${canary} ours`);
    await suite.remove(request, remote);
    expect(await suite.harness.external(request.externalName)).toBeUndefined();
  });

  test("put and remove treat another destination's secret as foreign", () =>
    suite.connectedAs({ id: randomUUID(), name: 'other' }, async (other) => {
      const { request } = await suite.putNew(`${canary} theirs`, other);
      const ours = putRequest(request.externalName, canary);
      expect((await suite.faultOf(() => suite.put(ours))).kind).toBe('conflict');
      await suite.removeUnput(request.externalName);
      expect(await suite.valueOf(request.externalName)).toBe(`${canary} theirs`);
    }));
}

/** Tests that a secret which is kept belongs to no destination. */
export function releaseTests(suite: DriverSuite): void {
  test('release leaves the value, and another destination may take the secret over', async () => {
    const { request, remote } = await suite.putNew();
    const { value, writes } = (await suite.harness.external(request.externalName))!;
    for (let times = 0; times < 2; times++) await suite.release(request, remote);
    expect(await suite.harness.external(request.externalName)).toMatchObject({ value, writes });
    await suite.connectedAs({ id: randomUUID(), name: 'other' }, async (other) => {
      const theirs = putRequest(request.externalName, `${canary} theirs`);
      expect((await suite.faultOf(() => suite.put(theirs, other))).kind).toBe('conflict');
      await suite.put({ ...theirs, overwrite: true }, other);
    });
    expect(await suite.valueOf(request.externalName)).toBe(`${canary} theirs`);
  });

  test('a released secret that is set again before the release is recorded is still the same', async () => {
    const { request, remote } = await suite.putNew();
    await suite.release(request, remote);
    const again = { ...request, ...newValue(request, `${canary} two`), remote, verify: true };
    const { remote: later } = await suite.put(again);
    expect(await suite.valueOf(request.externalName)).toBe(`${canary} two`);
    await suite.remove(again, later);
    expect(await suite.harness.external(request.externalName)).toBeUndefined();
  });

  test('release of an absent or foreign secret changes nothing', async () => {
    const absent = putRequest(suite.harness.freshName(), '');
    await suite.release(absent);
    expect(await suite.harness.external(absent.externalName)).toBeUndefined();
    const foreign = putRequest(suite.harness.freshName(), '');
    await suite.harness.plantForeign(foreign.externalName, 'theirs');
    const before = await suite.harness.external(foreign.externalName);
    await suite.release(foreign);
    expect(await suite.harness.external(foreign.externalName)).toEqual(before);
  });
}

/** Tests the built-in tags, which name the destination that owns an external secret. */
export function markTests(suite: DriverSuite): void {
  test("put never takes over another destination's secret, not even with overwrite", () =>
    suite.connectedAs({ id: randomUUID(), name: 'other' }, async (other) => {
      const { request, remote } = await suite.putNew(`${canary} theirs`, other);
      const { externalName } = request;
      const marked = await suite.harness.external(externalName);
      // With `remote`, the secret was once written by this destination, and then marked by the other one.
      for (const over of [{}, { verify: true }, { remote, verify: true }]) {
        const ours = putRequest(externalName, `${canary} ours`, { overwrite: true, ...over });
        expect((await suite.faultOf(() => suite.put(ours))).kind).toBe('conflict');
        expect(await suite.harness.external(externalName)).toEqual(marked);
      }
      await suite.remove(request, remote);
      expect(await suite.harness.external(externalName)).toEqual(marked);
    }));
}

/** Tests that a secret which a deleted destination has left behind is taken over only where that is permitted. */
export function leftBehindTests(suite: DriverSuite): void {
  test('put takes over what deleted destinations have left behind', async () => {
    const deleted = randomUUID();
    const { request } = await suite.connectedAs({ id: deleted, name: 'other' }, (other) =>
      suite.putNew(`${canary} theirs`, other),
    );
    const ours = putRequest(request.externalName, `${canary} ours`, { overwrite: true });
    const fault = await suite.faultOf(() => suite.put(ours));
    expect(fault).toMatchObject({ kind: 'conflict', ownerIds: [deleted] });
    const { remote } = await suite.put({ ...ours, overwrite: [deleted] });
    expect(await suite.valueOf(request.externalName)).toBe(`${canary} ours`);
    await suite.remove(ours, remote);
    expect(await suite.harness.external(request.externalName)).toBeUndefined();
  });
}

/** Tests that tags follow the destination's `custom_tags`. */
export function tagTests(suite: DriverSuite): void {
  const connectedWith = (custom_tags: Record<string, string>) => ({ settings: { custom_tags } });

  test('put sets the tags of the destination, and removes those it no longer has', () =>
    suite.connectedAs(connectedWith({ team: 'a', old: 'x' }), async (first) => {
      const { request, remote } = await suite.putNew(canary, first);
      const created = await suite.harness.external(request.externalName);
      expect(created?.tags).toMatchObject({ team: 'a', old: 'x' });
      await suite.connectedAs(connectedWith({ team: 'b' }), (second) =>
        suite.put({ ...request, remote, valueChanged: false }, second),
      );
      const changed = await suite.harness.external(request.externalName);
      expect(changed).toMatchObject({ tags: { team: 'b' }, writes: 1 });
      expect(changed?.tags).not.toHaveProperty('old');
    }));
}
