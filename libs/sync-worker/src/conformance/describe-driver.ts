import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault, type FaultKind, type Json } from '@secrets/domain';
import type { ConnectedDestination, PutRequest } from '../driver/driver.ts';
import type { DriverHarness, DriverUnderTest, FaultScenario } from './driver-harness.ts';
import { checkSequences } from './driver-sequences.ts';
import { newValue, putRequest } from './put-request.ts';

const canary = 'canary-7f3a';
const soon = () => AbortSignal.timeout(60_000);

const expectedFaults: readonly (readonly [FaultScenario, FaultKind])[] = [
  ['throttled', 'throttled'],
  ['unavailable', 'unavailable'],
  ['forbidden', 'forbidden'],
  ['unauthenticated', 'unauthenticated'],
  ['garbage', 'unavailable'],
  ['huge', 'unavailable'],
  ['redirect', 'unavailable'],
  ['reset', 'unavailable'],
];

/** What every driver keeps to, run against its simulated destination with the official client on the wire. */
export function describeDriver(subject: DriverUnderTest): void {
  describe(`driver ${subject.name}`, () => {
    let harness: DriverHarness;
    let connected: ConnectedDestination;
    const observed: unknown[] = [];

    beforeAll(async () => {
      harness = await subject.start(canary);
      connected = await harness.connect();
    });
    afterEach(() => harness.clear());
    afterAll(async () => {
      await connected.close();
      await harness.stop();
    });

    const put = (request: PutRequest, on = connected) => on.put(request, soon());
    const remove = (externalName: string, remote: Json | null = null) =>
      connected.remove({ entryId: 'entry', externalName, remote }, soon());
    const planted = async (value = `${canary} one`, on = connected) => {
      const request = putRequest(harness.freshName(), value);
      return { request, remote: (await put(request, on)).remote };
    };
    const faultOfAct = async (act: () => Promise<unknown>): Promise<Fault> => {
      const error = await act().then(
        () => undefined,
        (failure: unknown) => failure,
      );
      observed.push(error);
      expect(error).toBeInstanceOf(Fault);
      return error as Fault;
    };

    describe.each(expectedFaults)('a destination that is %s', (scenario, kind) => {
      test(`makes put and remove fail as ${kind}, and does not stay`, async () => {
        const { request, remote } = await planted();
        const changed = { ...request, ...newValue(request, `${canary} two`), remote };
        harness.inject(scenario);
        expect((await faultOfAct(() => put(changed))).kind).toBe(kind);
        expect((await faultOfAct(() => put(putRequest(harness.freshName(), canary)))).kind).toBe(kind);
        expect((await faultOfAct(() => remove(request.externalName, remote))).kind).toBe(kind);
        expect((await harness.external(request.externalName))?.value).toBe(`${canary} one`);
        harness.clear();
        await put(changed);
        expect((await harness.external(request.externalName))?.value).toBe(`${canary} two`);
      });
    });

    test('what the destination asks to wait is passed on', async () => {
      harness.inject('throttled');
      const fault = await faultOfAct(() => put(putRequest(harness.freshName(), canary)));
      expect(fault.retryAfterSeconds).toBe(7);
    });

    test('a silent destination is given up at the signal', async () => {
      harness.inject('silence');
      for (const verb of ['put', 'remove'] as const) {
        const name = harness.freshName();
        const signal = AbortSignal.timeout(100);
        const act = () =>
          verb === 'put'
            ? connected.put(putRequest(name, canary), signal)
            : connected.remove({ entryId: 'entry', externalName: name, remote: null }, signal);
        expect((await faultOfAct(act)).kind).toBe('unavailable');
      }
    });

    test('an outcome that was lost: the same put again is right and writes nothing twice', async () => {
      const request = putRequest(harness.freshName(), `${canary} one`);
      harness.inject('diesAfterActing');
      expect((await faultOfAct(() => put(request))).kind).toBe('unavailable');
      const { remote } = await put(request);
      const changed = { ...request, ...newValue(request, `${canary} two`), remote };
      harness.inject('diesAfterActing');
      await faultOfAct(() => put(changed));
      await put(changed);
      expect(await harness.external(request.externalName)).toMatchObject({
        value: `${canary} two`,
        writes: 2,
      });
    });

    test('an outcome that was lost: the same remove again is right', async () => {
      const { request, remote } = await planted();
      harness.inject('diesAfterActing');
      await remove(request.externalName, remote).catch(() => undefined);
      await remove(request.externalName, remote);
      await remove(request.externalName, remote);
      expect(await harness.external(request.externalName)).toBeUndefined();
    });

    test('a put whose outcome was lost can be removed', async () => {
      const request = putRequest(harness.freshName(), canary);
      harness.inject('diesAfterActing');
      await faultOfAct(() => put(request));
      await remove(request.externalName);
      expect(await harness.external(request.externalName)).toBeUndefined();
    });

    test('a new secret is created, a known one updated, an old value can come back', async () => {
      const { request, remote } = await planted();
      let known = remote;
      let now = request;
      for (const value of [`${canary} two`, `${canary} one`, `${canary} ☃ "\n`]) {
        now = { ...now, ...newValue(now, value), remote: known };
        known = (await put(now)).remote;
        expect((await harness.external(request.externalName))?.value).toBe(value);
      }
    });

    test('a known secret that vanished is created again', async () => {
      const { request, remote } = await planted();
      await remove(request.externalName, remote);
      await settle(() => put({ ...request, ...newValue(request, `${canary} two`), remote }));
      expect((await harness.external(request.externalName))?.value).toBe(`${canary} two`);
    });

    test('nothing changed: no call', async () => {
      const { request, remote } = await planted();
      const before = harness.callCount();
      const again = await put({ ...request, remote, valueChanged: false });
      expect(again.remote).toEqual(remote);
      expect(harness.callCount()).toBe(before);
    });

    test('asked to look again: nothing is written when nothing drifted', async () => {
      const { request, remote } = await planted();
      await put({ ...request, remote, valueChanged: false, verify: true });
      expect(await harness.external(request.externalName)).toMatchObject({
        value: `${canary} one`,
        writes: 1,
      });
    });

    test('absent is removed already', async () => {
      await remove(harness.freshName());
    });

    test('what is not ours is never removed', async () => {
      const name = harness.freshName();
      await harness.plantForeign(name, 'theirs');
      await remove(name);
      expect((await harness.external(name))?.value).toBe('theirs');
    });

    test('a foreign secret is refused, or taken over when that is requested; then it can be removed', async () => {
      const request = putRequest(harness.freshName(), `${canary} ours`);
      await harness.plantForeign(request.externalName, 'theirs');
      expect((await faultOfAct(() => put(request))).kind).toBe('conflict');
      expect((await harness.external(request.externalName))?.value).toBe('theirs');
      const { remote } = await put({ ...request, overwrite: true });
      expect((await harness.external(request.externalName))?.value).toBe(`${canary} ours`);
      await remove(request.externalName, remote);
      expect(await harness.external(request.externalName)).toBeUndefined();
    });

    test('of another destination of ours, a secret is foreign too', async () => {
      const other = await harness.connect({ id: randomUUID(), name: 'other' });
      const { request } = await planted(`${canary} theirs`, other);
      expect((await faultOfAct(() => put(putRequest(request.externalName, canary)))).kind).toBe('conflict');
      await remove(request.externalName);
      expect((await harness.external(request.externalName))?.value).toBe(`${canary} theirs`);
      await other.close();
    });

    test('sizes are in bytes, and checked before the call', async () => {
      const largest = 'é'.repeat(subject.maxValueBytes / 2);
      const { request } = await planted(largest);
      expect((await harness.external(request.externalName))?.value).toBe(largest);
      const before = harness.callCount();
      const fault = await faultOfAct(() => put(putRequest(harness.freshName(), `${largest}x`)));
      expect(fault.kind).toBe('too_large');
      expect(fault.message).toContain(String(subject.maxValueBytes + 1));
      if (!subject.takesEmptyValue) {
        expect((await faultOfAct(() => put(putRequest(harness.freshName(), '')))).kind).toBe('rejected');
      }
      expect(harness.callCount()).toBe(before);
    });

    if (subject.supportsTags) {
      test('tags are set with the secret and follow the destination; foreign ones stay', async () => {
        const settings = (custom_tags: Record<string, string>) => ({ settings: { custom_tags } });
        const first = await harness.connect(settings({ team: 'a', old: 'x' }));
        const { request, remote } = await planted(canary, first);
        expect((await harness.external(request.externalName))?.tags).toMatchObject({ team: 'a', old: 'x' });
        const second = await harness.connect(settings({ team: 'b' }));
        await second.put({ ...request, remote, valueChanged: false }, soon());
        const held = await harness.external(request.externalName);
        expect(held).toMatchObject({ tags: { team: 'b' }, writes: 1 });
        expect(held?.tags).not.toHaveProperty('old');
        await Promise.all([first.close(), second.close()]);
      });
    }

    test('no value and no credential is in what is remembered, thrown or logged', async () => {
      const { remote } = await planted();
      observed.push(remote);
      expect(inspect(observed, { depth: 12, showHidden: true })).not.toContain(canary);
      expect(harness.outputs()).not.toContain(canary);
    });

    test('any sequence of intents ends where it should, whatever breaks', () =>
      checkSequences(harness, connected));

    test('closing twice is harmless', async () => {
      const other = await harness.connect();
      await other.close();
      await other.close();
    });
  });
}

/** Repeats what is `not_ready` for a moment, as the runtime would. */
async function settle<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'not_ready') throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return act();
}
