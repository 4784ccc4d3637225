import { expect } from '@jest/globals';
import { Fault, type Json } from '@secrets/domain';
import type { ConnectedDestination, DestinationSettings, PutRequest } from '../driver/driver.ts';
import type { InspectRequest, ListedSecret, Look } from '../driver/look.ts';
import type { DriverHarness, DriverUnderTest } from './driver-harness.ts';
import { putRequest } from './put-request.ts';
import { type Starts, withStarts } from './put-starts.ts';

/** Part of every value and error message that the suite creates. It must not appear in any output. */
export const canary = 'canary-7f3a';

const deadline = () => AbortSignal.timeout(60_000);

/** The driver under test with its simulated destination, and the calls that the tests make. */
export class DriverSuite {
  readonly subject: DriverUnderTest;
  /** What the driver returned and threw, to be searched for the canary. */
  readonly observed: unknown[] = [];
  readonly #starts: Starts = new Map();
  #harness: DriverHarness | undefined;
  #connected: ConnectedDestination | undefined;

  constructor(subject: DriverUnderTest) {
    this.subject = subject;
  }

  async start(): Promise<void> {
    this.#harness = await this.subject.start(canary);
    this.#connected = withStarts(await this.#harness.connect(), this.#starts);
  }

  async stop(): Promise<void> {
    await this.#connected?.close();
    await this.#harness?.stop();
  }

  get harness(): DriverHarness {
    if (this.#harness === undefined) throw new Error('the suite has not started');
    return this.#harness;
  }

  get connected(): ConnectedDestination {
    if (this.#connected === undefined) throw new Error('the suite has not started');
    return this.#connected;
  }

  put(request: PutRequest, on = this.connected): Promise<{ remote: Json }> {
    return on.put(request, deadline());
  }

  inspect(request: InspectRequest): Promise<Look> {
    return this.#reading(() => this.connected.inspect(request, deadline()));
  }

  /** Returns the pages of the list. */
  list(): Promise<ListedSecret[][]> {
    return this.#reading(async () => {
      const pages: ListedSecret[][] = [];
      for (let after: string | null = null; ; ) {
        const { secrets, next } = await this.connected.list(after, deadline());
        pages.push(secrets);
        if (next === null) return pages;
        after = next;
      }
    });
  }

  /** Fails the test if the destination receives anything but reads meanwhile, also if `act` fails. */
  async #reading<T>(act: () => Promise<T>): Promise<T> {
    const before = this.harness.writes();
    try {
      return await act();
    } finally {
      expect(this.harness.writes()).toEqual(before);
    }
  }

  /** Removes the external secret of the entry of this put. */
  remove(request: PutRequest, remote: Json | null = null): Promise<void> {
    return this.connected.remove({ ...request, remote }, deadline());
  }

  /** Releases the external secret of the entry of this put. */
  async release(request: PutRequest, remote: Json | null = null): Promise<void> {
    await this.connected.release?.({ ...request, remote }, deadline());
  }

  /** Removes the external secret of this name as an entry that has never put it. */
  removeUnput(externalName: string): Promise<void> {
    return this.remove(putRequest(externalName, ''));
  }

  async putNew(value = `${canary} one`, on = this.connected) {
    const request = putRequest(this.harness.freshName(), value);
    const { remote } = await this.put(request, on);
    this.observed.push(remote);
    return { request, remote };
  }

  /** Connects for the time of `use`. */
  async connectedAs<T>(
    over: Partial<DestinationSettings>,
    use: (other: ConnectedDestination) => Promise<T>,
  ): Promise<T> {
    const other = withStarts(await this.harness.connect(over), this.#starts);
    try {
      return await use(other);
    } finally {
      await other.close();
    }
  }

  /** Returns the fault that `act` fails with. Fails the test if it succeeds or throws anything else. */
  async faultOf(act: () => Promise<unknown>): Promise<Fault> {
    const error = await act().then(
      () => undefined,
      (failure: unknown) => failure,
    );
    this.observed.push(error);
    expect(error).toBeInstanceOf(Fault);
    return error as Fault;
  }

  async valueOf(name: string): Promise<string | undefined> {
    return (await this.harness.external(name))?.value;
  }
}
