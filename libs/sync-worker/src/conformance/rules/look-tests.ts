import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import type { Json } from '@secrets/domain';
import type { InspectRequest, Look } from '../../driver/look.ts';
import type { FaultScenario } from '../driver-harness.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue, putRequest } from '../put-request.ts';
import { untilReady } from '../until-ready.ts';

const one = `${canary} one`;
const another = '5b0a6c3e-0000-4000-8000-0000000000aa';

/** Milliseconds that reads are behind. */
const lagMs = 300;

const faults = [
  ...(['throttled', 'unavailable', 'forbidden', 'unauthenticated', 'scopeGone'] as const),
  ...(['garbage', 'huge', 'redirect', 'reset'] as const),
  ...(['manyHeaders', 'empty', 'cutOff'] as const),
] satisfies FaultScenario[];

/** Tests looks at single external secrets. None may make a call that is not a read (`DriverSuite.inspect`). */
export function lookTests(suite: DriverSuite): void {
  const { subject } = suite;
  /** The value of a secret whose mark has changed, where it can be read. */
  const read = (value: 'same' | 'different') => (subject.readsValues === false ? 'unread' : value);
  const look = async (
    name: string,
    remote: Json | null,
    over: Partial<InspectRequest> = {},
  ): Promise<Look> => {
    const before = await suite.harness.external(name);
    const found = await suite.inspect({
      ...putRequest(name, ''),
      remote,
      isSameValue: (value) => value.reveal() === one,
      ...over,
    });
    expect(await suite.harness.external(name)).toEqual(before);
    return found;
  };

  describe('a look', () => {
    test('at what the last put wrote makes as few calls as possible', async () => {
      const { request, remote } = await suite.putNew();
      await look(request.externalName, remote); // the first call of a client may fetch a token
      const calls = suite.harness.callCount();
      const found = await look(request.externalName, remote);
      expect(found).toMatchObject({ exists: true, belongs: 'own', isUntouched: true });
      expect(found).not.toMatchObject({ value: 'different' });
      expect(suite.harness.callCount() - calls).toBe(subject.lookCalls ?? 1);
    });

    test('says that a name is free', async () => {
      expect(await look(suite.harness.freshName(), null)).toEqual({ exists: false });
    });

    test('says that what was removed is absent', async () => {
      const { request, remote } = await suite.putNew();
      await suite.remove(request, remote);
      expect(await look(request.externalName, remote)).toEqual({ exists: false });
    });

    test.each([
      ['same', one],
      ['different', 'theirs'],
    ] as const)('compares the value of a secret without an owner (%s)', async (value, text) => {
      const name = suite.harness.freshName();
      await suite.harness.plantForeign(name, text);
      expect(await look(name, null)).toMatchObject({
        exists: true,
        belongs: 'none',
        isUntouched: false,
        value: read(value),
      });
    });

    test('recognises a value that a lost attempt of the destination has written, and returns what to remember', async () => {
      const { request, remote } = await suite.putNew();
      const later = await suite.put({ ...request, ...newValue(request, `${canary} two`), remote });
      await suite.put({ ...request, ...newValue(request, one), remote: later.remote });
      const found = await look(request.externalName, remote);
      expect(found).toMatchObject({ exists: true, belongs: 'own', value: read('same') });
      if (subject.readsValues === false || !('remote' in found)) return;
      expect(await look(request.externalName, found.remote!)).toMatchObject({ isUntouched: true });
    });

    if (subject.showsOwner ?? subject.supportsTags) {
      test('recognises what the destination has written although nothing of it is remembered', async () => {
        const { request } = await suite.putNew();
        expect(await look(request.externalName, null)).toMatchObject({ belongs: 'own', value: read('same') });
      });

      test('recognises the secret of another destination', async () => {
        const { request } = await suite.connectedAs({ id: another }, (other) => suite.putNew(one, other));
        expect(await look(request.externalName, null)).toMatchObject({ exists: true, belongs: 'other' });
      });
    }

    for (const [change, shown] of Object.entries(subject.changesOutside ?? {}))
      test(`shows what somebody else has done (${change})`, async () => {
        const { request, remote } = await suite.putNew();
        await suite.harness.changeOutside?.(change, request.externalName);
        expect(await look(request.externalName, remote)).toMatchObject(shown);
      });

    test('through reads that do not show a new secret yet sends nothing but reads', async () => {
      const { request, remote } = await suite.putNew();
      suite.harness.lag(60_000);
      await look(request.externalName, remote).catch((error: Error) => suite.observed.push(error));
      suite.harness.clear();
      expect(await look(request.externalName, remote)).toMatchObject({ belongs: 'own', isUntouched: true });
    });

    test('through reads that still show the value before sends nothing but reads', async () => {
      const { request, remote } = await suite.putNew();
      await sleep(lagMs + 50);
      suite.harness.lag(lagMs);
      const next = { ...request, ...newValue(request, `${canary} two`), remote };
      const later = await untilReady(() => suite.put(next));
      const isSameValue: InspectRequest['isSameValue'] = (value) => value.reveal() === `${canary} two`;
      const again = () => look(request.externalName, later.remote, { isSameValue });
      await again().catch((error: Error) => suite.observed.push(error));
      suite.harness.clear();
      expect(await again()).toMatchObject({ isUntouched: true });
    });

    test.each(faults)('that fails throws, and says nothing about the secret (%s)', async (scenario) => {
      const { request, remote } = await suite.putNew();
      suite.harness.inject(scenario);
      await suite.faultOf(() => look(request.externalName, remote));
      suite.harness.clear();
      expect(await look(request.externalName, remote)).toMatchObject({ isUntouched: true });
    });

    test('does not return the value', async () => {
      const name = suite.harness.freshName();
      await suite.harness.plantForeign(name, one);
      suite.observed.push(await look(name, null, { isSameValue: (value) => value.reveal() === one }));
    });
  });
}

/** Tests lists of what is where the destination keeps its external secrets. */
export function listTests(suite: DriverSuite): void {
  const { subject } = suite;
  const showsOwner = subject.showsOwner ?? subject.supportsTags;
  const listed = async (name: string) => (await suite.list()).flat().filter((secret) => secret.name === name);

  describe('a list', () => {
    test('has each external secret once, with its owner as far as the store shows it', async () => {
      const { request: own } = await suite.putNew();
      const { request: theirs } = await suite.connectedAs({ id: another }, (other) =>
        suite.putNew(one, other),
      );
      const foreign = suite.harness.freshName();
      await suite.harness.plantForeign(foreign, one);
      const isReadable = subject.readsValues !== false;
      expect(await listed(own.externalName)).toMatchObject([
        { belongs: showsOwner ? 'own' : 'none', isReadable },
      ]);
      expect(await listed(theirs.externalName)).toMatchObject([{ belongs: showsOwner ? 'other' : 'none' }]);
      expect(await listed(foreign)).toMatchObject([{ belongs: 'none', isReadable }]);
    });

    test('leaves out what was removed', async () => {
      const { request, remote } = await suite.putNew();
      await suite.remove(request, remote);
      expect(await listed(request.externalName)).toEqual([]);
    });

    test('consists of several pages where the store has more than one page of them', async () => {
      const { pageSize } = subject;
      if (pageSize === undefined) return expect(await suite.list()).toHaveLength(1);
      const names = Array.from({ length: pageSize + 1 }, () => suite.harness.freshName());
      for (const name of names) await suite.harness.plantForeign(name, 'x');
      const pages = await suite.list();
      expect(pages.length).toBeGreaterThan(1);
      expect(pages.flat().map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    });

    test.each(faults)('that fails throws (%s)', async (scenario) => {
      suite.harness.inject(scenario);
      await suite.faultOf(() => suite.list());
    });

    test('shows which external secrets are as they were pushed, if one page serves many', async () => {
      const { findUntouched } = suite.connected;
      const description = Object.values(destinationTypes).find(({ type }) => type === subject.name);
      expect(findUntouched !== undefined).toBe(description?.looksByList ?? false);
      if (findUntouched === undefined) return;
      const requests = await putAndLookedAt(suite, 2 + 2 * (await suite.list()).length); // worth reading all pages
      const [edited, removed, ...kept] = requests;
      await suite.harness.changeOutside?.('value', edited!.externalName);
      await suite.remove(removed!, removed!.remote);
      const find = () => findUntouched(requests, AbortSignal.timeout(10_000));
      await find(); // the first call of a client may fetch a token
      const calls = suite.harness.callCount();
      const { entryIds, pages } = await find();
      expect(entryIds.sort()).toEqual(kept.map(({ entryId }) => entryId).sort());
      const made = suite.harness.callCount() - calls;
      const checks = (subject.lookCalls ?? 1) - 1; // of the place
      expect(made).toBeLessThanOrEqual(pages + checks);
      expect(pages).toBeLessThanOrEqual((await suite.list()).length);
    });

    test('does not contain values', async () => {
      await suite.putNew();
      suite.observed.push(await suite.list());
    });
  });
}

/** Puts new external secrets, and remembers what the puts and a look at each return. */
async function putAndLookedAt(suite: DriverSuite, count: number) {
  const requests = [];
  for (let number = 0; number < count; number += 1) {
    const { request, remote } = await suite.putNew();
    const found = await suite.inspect({ ...request, remote, isSameValue: () => true });
    requests.push({ ...request, remote: 'remote' in found ? found.remote! : remote });
  }
  return requests;
}
