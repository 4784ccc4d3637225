import { describe, expect, test } from '@jest/globals';
import type { FaultKind } from '@secrets/domain';
import type { ConnectedDestination } from '../../driver/driver.ts';
import { type FaultScenario, throttledSeconds } from '../driver-harness.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue, putRequest } from '../put-request.ts';
import { bytesReadBy } from './bytes-read-by.ts';

const expectedFaults: readonly (readonly [FaultScenario, FaultKind])[] = [
  ['throttled', 'throttled'],
  ['unavailable', 'unavailable'],
  ['forbidden', 'forbidden'],
  ['unauthenticated', 'unauthenticated'],
  ['garbage', 'unavailable'],
  ['huge', 'unavailable'],
  ['redirect', 'unavailable'],
  ['reset', 'unavailable'],
  ['manyHeaders', 'unavailable'],
  ['empty', 'unavailable'],
  ['cutOff', 'unavailable'],
];

/** The causes that a message may state of a response that cannot be used, so that it has no text of a library. */
export const ownWords =
  /^([^:\n]+: )?(the response cannot be parsed|the connection failed \([A-Z_]+\)|the connection was closed|the service (responded with a redirect, which is not followed|sent headers of more than 16 KiB|sent a response (of more than \d+ KiB|that is nested deeper than 32 levels)|is unavailable \([A-Za-z_0-9 ]+\)))$/;

/** Tests the kinds of faults that a driver reports for failures of the destination. */
export function faultTests(suite: DriverSuite): void {
  test.each(expectedFaults)(
    'scenario %s makes put and remove fail as %s, until it ends',
    async (scenario, kind) => {
      const { request, remote } = await suite.putNew();
      const changed = { ...request, ...newValue(request, `${canary} two`), remote };
      const created = putRequest(suite.harness.freshName(), canary);
      suite.harness.inject(scenario);
      for (const act of [
        () => suite.put(changed),
        () => suite.put(created),
        () => suite.remove(request, remote),
      ]) {
        const fault = await suite.faultOf(act);
        expect(fault.kind).toBe(kind);
        if (kind === 'unavailable') expect(fault.message).toMatch(ownWords);
      }
      expect(await suite.valueOf(request.externalName)).toBe(`${canary} one`);
      suite.harness.clear();
      await suite.put(changed);
      expect(await suite.valueOf(request.externalName)).toBe(`${canary} two`);
    },
  );

  test.each([
    ['put', 640],
    ['list', 1_280],
  ] as const)('of a response that is too large, a %s reads less than %i KiB', async (operation, kib) => {
    const signal = AbortSignal.timeout(60_000);
    const meetHuge = async (other: ConnectedDestination) => {
      const { request, remote } = await suite.putNew(`${canary} one`, other);
      const changed = { ...request, ...newValue(request, `${canary} two`), remote };
      suite.harness.inject('huge');
      return operation === 'put' ? other.put(changed, signal) : other.list(null, signal);
    };
    const read = await bytesReadBy(() =>
      suite.connectedAs({}, (other) => suite.faultOf(() => meetHuge(other))),
    );
    expect(read).toBeLessThan(kib * 1024);
  });

  test('a throttled call reports how long the destination asks to wait', async () => {
    suite.harness.inject('throttled');
    const fault = await suite.faultOf(() => suite.put(putRequest(suite.harness.freshName(), canary)));
    expect(fault.retryAfterSeconds).toBe(throttledSeconds);
  });

  test('calls to a silent destination end when the signal aborts', async () => {
    const { connected, harness } = suite;
    const { request, remote } = await suite.putNew();
    const changed = { ...request, ...newValue(request, `${canary} two`), remote };
    harness.inject('silence');
    for (const act of [
      () => connected.put(putRequest(harness.freshName(), canary), AbortSignal.timeout(100)),
      () => connected.put(changed, AbortSignal.timeout(100)),
      () => connected.remove(changed, AbortSignal.timeout(100)),
    ])
      expect((await suite.faultOf(act)).kind).toBe('unavailable');
  });
}

/** Tests the loss of a connection, or a crash, after the destination acted and before the driver learned of it. */
export function lostOutcomeTests(suite: DriverSuite): void {
  describe('after a lost outcome', () => {
    const dyingPut = async (request: ReturnType<typeof putRequest>) => {
      suite.harness.inject('diesAfterActing');
      expect((await suite.faultOf(() => suite.put(request))).kind).toBe('unavailable');
    };

    test('the repeated put succeeds, and writes nothing twice where that can be seen', async () => {
      const request = putRequest(suite.harness.freshName(), `${canary} one`);
      await dyingPut(request);
      const { remote } = await suite.put(request);
      const changed = { ...request, ...newValue(request, `${canary} two`), remote };
      await dyingPut(changed);
      await suite.put(changed);
      const held = await suite.harness.external(request.externalName);
      expect(held?.value).toBe(`${canary} two`);
      if (!suite.subject.mayWriteTwice) expect(held?.writes).toBe(2);
    });

    test('the repeated remove succeeds', async () => {
      const { request, remote } = await suite.putNew();
      suite.harness.inject('diesAfterActing');
      await suite.remove(request, remote).catch(() => undefined); // the first call may be a read
      await suite.remove(request, remote);
      await suite.remove(request, remote);
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });

    test('the secret of a lost put can be removed', async () => {
      const request = putRequest(suite.harness.freshName(), canary);
      await dyingPut(request);
      await suite.remove(request);
      expect(await suite.harness.external(request.externalName)).toBeUndefined();
    });
  });
}
