import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Json } from '@secrets/domain';
import type { ConnectedDestination, PutRequest } from '../driver/driver.ts';
import type { LoggingHarness } from './driver-harness.ts';
import { newValue, putRequest } from './put-request.ts';

interface UseOptions<Harness extends LoggingHarness> {
  start(): Promise<Harness>;
  /** Settings of the destination that is used by default. */
  settings?: Record<string, unknown>;
}

const signal = () => AbortSignal.timeout(60_000);

/**
 * Starts a harness for the tests of a file or a `describe` block, with one connected destination, and stops it after them.
 * Faults end after each test. Extend what it returns with `Object.assign`: a spread would read `harness` before it is started.
 */
export function useDriverHarness<Harness extends LoggingHarness>({
  start,
  settings: defaults = {},
}: UseOptions<Harness>) {
  let harness: Harness;
  let store: ConnectedDestination;
  const opened: ConnectedDestination[] = [];
  const keep = (connected: ConnectedDestination) => {
    opened.push(connected);
    return connected;
  };
  const connect = async (settings = defaults) => keep(await harness.connect({ settings }));
  const put = (request: PutRequest, on = store) => on.put(request, signal());

  beforeAll(async () => {
    harness = await start();
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
    /** Connects a destination that is closed after the tests. */
    connect,
    /** Closes the destination after the tests. */
    keep,
    put,
    remove: (externalName: string, remote: Json | null = null, on = store) =>
      on.remove({ entryId: 'entry', externalName, remote, putStartedAt: null }, signal()),
    /** Puts a new secret, and returns it with the requests of later puts. */
    async putNew(on = store, value = 'one') {
      const request = putRequest(harness.freshName(), value);
      const { remote } = await put(request, on);
      harness.calls();
      return { name: request.externalName, remote, request, ...laterPuts(request, remote) };
    },
  };
}

function laterPuts(request: PutRequest, remote: Json) {
  const unchanged = { ...request, remote, valueChanged: false };
  return {
    /** Returns the request for the next value. */
    next: (text: string) => ({ ...request, ...newValue(request, text), remote }),
    unchanged,
    /** Nothing changed here, and the external secret is to be compared. */
    verification: { ...unchanged, verify: true },
  };
}
