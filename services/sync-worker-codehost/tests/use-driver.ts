import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { CodehostOptions } from '@secrets/sandbox';
import type { ConnectedDestination, PutRequest } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { type CodehostHarness, startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);

/** Starts a harness for the tests of this file, with one connected destination, and stops it after them. */
export function useDriver(options: CodehostOptions = {}, settings: Record<string, unknown> = {}) {
  let harness: CodehostHarness;
  let store: ConnectedDestination;
  const opened: ConnectedDestination[] = [];
  const keep = (connected: ConnectedDestination) => {
    opened.push(connected);
    return connected;
  };
  const connect = async (over: Record<string, unknown> = settings) =>
    keep(await harness.connect({ settings: over }));
  const put = (request: PutRequest, on = store) => on.put(request, signal());

  beforeAll(async () => {
    harness = await startHarness(options);
    store = await connect();
  });
  afterEach(() => harness.clear());
  afterAll(async () => {
    await Promise.all(opened.map((connected) => connected.close()));
    await harness.stop();
  });

  return {
    get harness() {
      return harness;
    },
    connect,
    /** Closes the destination after the tests. */
    keep,
    put,
    remove: (request: PutRequest, on = store) => on.remove(request, signal()),
    /** Puts a new secret, and returns it with a function that creates the request for its next value. */
    async putNew(on = store, value = 'one') {
      const request = putRequest(harness.freshName(), value);
      const { remote } = await put(request, on);
      harness.calls();
      return {
        name: request.externalName,
        remote,
        request: { ...request, remote },
        next: (text: string) => ({ ...request, ...newValue(request, text), remote }),
        /** The request of a put that finds nothing changed here, and is to compare the external secret. */
        verification: { ...request, remote, valueChanged: false, verify: true },
      };
    },
    /** Makes calls of these operations fail with this status. */
    failWith: (operation: string | string[], status: number, message = 'canary') =>
      void harness.sandbox.codehost.faults.add({ effect: 'error', operation, status, code: 'X', message }),
  };
}
