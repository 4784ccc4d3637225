import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Fault, type FaultKind } from '@secrets/domain';
import { z } from 'zod';
import type { ConnectedDestination, PutRequest, RemoveRequest } from '../driver/driver.ts';
import { requireWritable } from '../driver/ownership.ts';
import { describeDriver } from './describe-driver.ts';
import { type DriverHarness, type FaultScenario, throttledSeconds } from './driver-harness.ts';

const maxValueBytes = 1_000;
const kinds: Partial<Record<FaultScenario, FaultKind>> = {
  throttled: 'throttled',
  forbidden: 'forbidden',
  unauthenticated: 'unauthenticated',
};

/** A store in memory that returns the version of a secret, and never its value. */
class WriteOnlyStore {
  readonly secrets = new Map<string, { value: string; version: number }>();
  /** Milliseconds by which reads are behind. */
  lagMs = 0;
  readonly #states: { fromMs: number; name: string; version: number | undefined }[] = [];
  scenario: FaultScenario | undefined;
  calls = 0;
  readonly writes: string[] = [];

  version = (name: string, signal: AbortSignal) =>
    this.#call(signal, () =>
      this.lagMs === 0
        ? this.secrets.get(name)?.version
        : this.#states.findLast((state) => state.name === name && state.fromMs <= Date.now() - this.lagMs)
            ?.version,
    );

  names = (signal: AbortSignal) => this.#call(signal, () => [...this.secrets.keys()]);

  write = (name: string, value: string, signal: AbortSignal) =>
    this.#call(signal, () => {
      this.writes.push('write');
      const version = (this.secrets.get(name)?.version ?? 0) + 1;
      this.secrets.set(name, { value, version });
      this.#states.push({ fromMs: Date.now(), name, version });
      return version;
    });

  delete = (name: string, signal: AbortSignal) =>
    this.#call(signal, () => {
      this.writes.push('delete');
      this.secrets.delete(name);
      this.#states.push({ fromMs: Date.now(), name, version: undefined });
    });

  async #call<T>(signal: AbortSignal, act: () => T): Promise<T> {
    this.calls += 1;
    const { scenario } = this;
    if (scenario === 'silence') await once(signal, 'abort');
    if (scenario === undefined) return act();
    if (scenario === 'diesAfterActing') {
      this.scenario = undefined;
      act();
    }
    const wait = scenario === 'throttled' ? { retryAfterSeconds: throttledSeconds } : {};
    throw new Fault(kinds[scenario] ?? 'unavailable', 'calling: the response cannot be parsed', wait);
  }
}

const Remembered = z.object({ version: z.number() });

/** A driver as small as the contract permits for a destination whose secrets do not show whose they are. */
function connect(store: WriteOnlyStore, destinationId: string): ConnectedDestination {
  const isOwn = ({ remote, putStartedAt }: RemoveRequest) => remote !== null || putStartedAt !== null;
  const isUnchanged = async ({ remote, ...request }: PutRequest, signal: AbortSignal): Promise<boolean> => {
    if (remote === null || request.valueChanged) return false;
    if (!request.verify) return true;
    return (await store.version(request.externalName, signal)) === Remembered.parse(remote).version;
  };
  const requireOwn = async (request: PutRequest, signal: AbortSignal): Promise<void> => {
    const { externalName: name, overwrite } = request;
    if ((await store.version(name, signal)) === undefined) return;
    const secret = { name, tags: {}, isRemembered: isOwn(request) };
    requireWritable({ prefix: 'secrets', destinationId }, secret, overwrite);
  };
  return {
    async put(request, signal) {
      const { externalName, value, remote } = request;
      const bytes = Buffer.byteLength(value.reveal());
      if (bytes > maxValueBytes) throw new Fault('too_large', `the value has ${bytes} bytes`);
      if (await isUnchanged(request, signal)) return { remote: remote! };
      if (remote === null) {
        await requireOwn(request, signal);
        await request.recordStart();
      }
      return { remote: { version: await store.write(externalName, value.reveal(), signal) } };
    },
    async remove(request, signal) {
      if (isOwn(request)) await store.delete(request.externalName, signal);
    },
    async inspect(request, signal) {
      const version = await store.version(request.externalName, signal);
      if (version === undefined) return { exists: false };
      return {
        exists: true,
        belongs: isOwn(request) ? 'own' : 'none',
        mark: String(version),
        isUntouched: Remembered.safeParse(request.remote).data?.version === version,
        value: 'unread',
        changedAt: null,
      };
    },
    async list(_, signal) {
      const names = await store.names(signal);
      const shown = { belongs: 'none', isReadable: false, createdAt: null, changedAt: null } as const;
      return { secrets: names.map((name) => ({ name, ...shown })), next: null };
    },
    close: async () => {},
  };
}

async function startHarness(): Promise<DriverHarness> {
  const store = new WriteOnlyStore();
  return {
    connect: async ({ id = 'main' } = {}) => connect(store, id),
    freshName: () => randomUUID(),
    external: async (name) => {
      const held = store.secrets.get(name);
      return held && { value: held.value, tags: {}, writes: held.version };
    },
    plantForeign: async (name, value) => void store.secrets.set(name, { value, version: 1 }),
    inject: (scenario) => {
      store.scenario = scenario;
    },
    redirectTo: () => {
      store.scenario = 'redirect';
    },
    lag: (ms) => {
      store.lagMs = ms;
    },
    settingsRead: () => [],
    stateOf: () => [],
    clear: () => {
      store.scenario = undefined;
      store.lagMs = 0;
    },
    callCount: () => store.calls,
    writes: () => [...store.writes],
    outputs: () => '',
    stop: async () => {},
  };
}

describeDriver({
  name: 'write-only',
  maxValueBytes,
  takesEmptyValue: true,
  supportsTags: false,
  recordsStart: true,
  mayWriteTwice: true,
  readsValues: false,
  start: startHarness,
});
