import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Json } from '@secrets/domain';
import type { ConnectedDestination, PutRequest } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { type CloudCHarness, startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);

/** Starts a harness for the tests of this file, with one connected destination, and stops it after them. */
export function useDriver() {
  let harness: CloudCHarness;
  let store: ConnectedDestination;
  const opened: ConnectedDestination[] = [];
  const keep = (connected: ConnectedDestination) => {
    opened.push(connected);
    return connected;
  };
  const connect = async (settings: Record<string, unknown> = {}) => keep(await harness.connect({ settings }));
  const put = (request: PutRequest, on = store) => on.put(request, signal());

  beforeAll(async () => {
    harness = await startHarness();
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
    remove: (externalName: string, remote: Json | null = null, on = store) =>
      on.remove({ entryId: 'entry', externalName, remote, putStartedAt: null }, signal()),
    /** Puts a new secret, and returns it with a function that creates the request for its next value. */
    async putNew(on = store, value = 'one') {
      const request = putRequest(harness.freshName(), value);
      const { remote } = await put(request, on);
      harness.calls();
      return {
        name: request.externalName,
        remote,
        next: (text: string) => ({ ...request, ...newValue(request, text), remote }),
        request,
      };
    },
    /** Makes calls of this operation fail with this status. */
    failWith: (operation: string, code: string, status: number) =>
      void harness.sandbox.cloudC.faults.add({ effect: 'error', operation, code, status }),
  };
}
