import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Json } from '@secrets/domain';
import type { WebhostOptions } from '@secrets/sandbox';
import type { ConnectedDestination, PutRequest } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { startHarness, type WebhostHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);

/** Starts a harness for the tests of this file, with one connected destination, and stops it after them. */
export function useDriver(webhost: WebhostOptions = {}, project?: string) {
  let harness: WebhostHarness;
  let store: ConnectedDestination;
  const opened: ConnectedDestination[] = [];
  const keep = (connected: ConnectedDestination) => {
    opened.push(connected);
    return connected;
  };
  const put = (request: PutRequest, on = store) => on.put(request, signal());

  beforeAll(async () => {
    harness = await startHarness(webhost, project === undefined ? {} : { project });
    store = keep(await harness.connectWith({}));
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
    /** Connects a destination that is closed after the tests. */
    connect: async (...over: Parameters<WebhostHarness['connectWith']>) =>
      keep(await harness.connectWith(...over)),
    /** Connects the destination with other environments. */
    forEnvironments: async (...environments: string[]) =>
      keep(await harness.connectWith({ settings: { deployment_environments: environments } })),
    put,
    remove: (externalName: string, remote: Json | null = null, on = store) =>
      on.remove({ entryId: 'entry', externalName, remote, putStartedAt: null }, signal()),
    /** Puts a new variable, and returns it with a function that creates the request for its next value. */
    async putNew(on = store, value = 'one') {
      const request = putRequest(harness.freshName(), value);
      const { remote } = await put(request, on);
      harness.calls();
      return {
        name: request.externalName,
        remote,
        request,
        next: (text: string) => ({ ...request, ...newValue(request, text), remote }),
        unchanged: { ...request, remote, valueChanged: false },
      };
    },
    records: (name: string) => harness.records(name),
    /** Makes calls of this operation fail with this error code. */
    failWith: (operation: string, code: string, status = 400) =>
      void harness.sandbox.webhost.faults.add({ effect: 'error', operation, code, status }),
  };
}
