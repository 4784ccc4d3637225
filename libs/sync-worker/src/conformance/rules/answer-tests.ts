import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FaultScenario } from '../driver-harness.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue, putRequest } from '../put-request.ts';
import { untilReady } from '../until-ready.ts';
import { ownWords } from './fault-tests.ts';

/**
 * Tests what one operation answers without having performed it, as a proxy may. Other operations of the same put or removal
 * work, so that one whose answer is not read would be taken for a success.
 */
export function answerTests(suite: DriverSuite): void {
  const changes = ['a new value', ...Object.keys(suite.subject.changesOutside ?? {})];
  /** Returns a put that has something to do, and its secret before the change. */
  const prepared = async (change: string) => {
    const { request, remote } = await suite.putNew();
    const before = await suite.harness.external(request.externalName);
    if (change === changes[0])
      return { before, request: { ...request, ...newValue(request, `${canary} two`), remote } };
    await suite.harness.changeOutside?.(change, request.externalName);
    return { before, request: { ...request, remote, valueChanged: false, verify: true } };
  };
  const operationsIn = async (act: () => Promise<unknown>) => {
    suite.harness.calls?.();
    await untilReady(act).catch(() => undefined);
    return new Set(suite.harness.calls?.());
  };
  /** Whether `act` succeeds while `operation` has the fault; any other outcome is a fault. */
  const succeedsDespite = async (
    [scenario, operation]: readonly [FaultScenario, string],
    act: () => Promise<unknown>,
  ) => {
    suite.harness.inject(scenario, operation);
    const hasSucceeded = await act().then(
      () => true,
      (error: unknown) => suite.faultOf(() => Promise.reject(error)).then(() => false),
    );
    suite.harness.clear();
    return hasSucceeded;
  };

  describe.each(['empty', 'garbage'] as const)('an answer of the kind %s to one operation', (scenario) => {
    test.each(changes)('is no success of a put after %s', async (change) => {
      const first = await prepared(change);
      for (const operation of await operationsIn(() => suite.put(first.request))) {
        const { request, before } = await prepared(change);
        if (!(await succeedsDespite([scenario, operation], () => suite.put(request)))) continue;
        expect([operation, await suite.harness.external(request.externalName)]).toMatchObject([
          operation,
          { value: request.value.reveal(), tags: before!.tags },
        ]);
      }
    });

    test('is no success of a removal', async () => {
      const first = await suite.putNew();
      for (const operation of await operationsIn(() => suite.remove(first.request, first.remote))) {
        const { request, remote } = await suite.putNew();
        if (await succeedsDespite([scenario, operation], () => suite.remove(request, remote)))
          expect([operation, await suite.harness.external(request.externalName)]).toEqual([
            operation,
            undefined,
          ]);
        await suite.remove(request, remote);
        expect(await suite.harness.external(request.externalName)).toBeUndefined();
      }
    });
  });
}

/** Tests redirects to another host, which would get the credentials and the value. */
export function redirectTests(suite: DriverSuite): void {
  let elsewhere: Server;
  const reached: (string | undefined)[] = [];
  beforeAll(async () => {
    elsewhere = createServer((received, response) => {
      reached.push(received.url);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
  });
  afterAll(() => void elsewhere.close());

  test.each([302, 307, 308] as const)(
    'a redirect with status %i to another host is not followed',
    async (status) => {
      const { request, remote } = await suite.putNew();
      const changed = { ...request, ...newValue(request, `${canary} two`), remote };
      const { port } = elsewhere.address() as AddressInfo;
      suite.harness.redirectTo(`http://127.0.0.1:${port}/elsewhere`, status);
      for (const act of [
        () => suite.put(changed),
        () => suite.put(putRequest(suite.harness.freshName(), canary)),
        () => suite.remove(request, remote),
        () => suite.list(),
      ])
        expect(await suite.faultOf(act)).toMatchObject({
          kind: 'unavailable',
          message: expect.stringMatching(ownWords),
        });
      expect(reached).toEqual([]);
      suite.harness.clear();
      await suite.put(changed);
      expect(await suite.valueOf(request.externalName)).toBe(`${canary} two`);
    },
  );
}
