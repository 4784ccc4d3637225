import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { type CheckStep, Fault, syncQueue } from '@secrets/domain';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination, PutRequest, RemoveRequest } from '../src/driver/driver.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { useServers } from './use-servers.ts';

const destinationType = 'cloudA-sm';
const { db, broker, depsOfWorker } = useServers();
let destinationId: string;
beforeEach(async () => {
  destinationId = randomUUID();
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1::uuid, 'root', '', $2, $1::text, '{}')`,
    [destinationId, destinationType],
  );
});

/** An external store of one secret; `calls` are those that it received. */
class Store implements ConnectedDestination {
  readonly calls: string[] = [];
  readonly puts: PutRequest[] = [];
  readonly removals: RemoveRequest[] = [];
  value: string | undefined;
  /** What calls fail with, one after the other; undefined for a call that succeeds. */
  failures: (Error | undefined)[] = [];

  async put(request: PutRequest) {
    this.calls.push('put');
    this.puts.push(request);
    this.#failIfToldTo();
    await request.recordStart();
    this.value = request.value.reveal();
    return { remote: { id: this.puts.length } };
  }

  inspect = async () => ({ exists: false }) as const;
  list = async () => ({ secrets: [], next: null });

  async remove(request: RemoveRequest) {
    this.calls.push('remove');
    this.removals.push(request);
    this.#failIfToldTo();
    this.value = undefined;
  }

  async close() {}

  #failIfToldTo() {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
  }
}

const workerOf = (
  connected: ConnectedDestination,
  connect = async () => connected,
  { concurrency = 2, stopGraceSeconds }: { concurrency?: number; stopGraceSeconds?: number } = {},
) =>
  createSyncWorker({ type: destinationType, connect }, depsOfWorker(), {
    concurrency,
    leaseSeconds: 60,
    prefix: 'secrets',
    ...(stopGraceSeconds && { stopGraceSeconds }),
  });

async function request(seconds = 10): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    `insert into sync.destination_checks (destination_id, destination_type, external_name, ends_at)
     values ($1, $2, 'probe', now() + $3 * interval '1 second') returning id`,
    [destinationId, destinationType, seconds],
  );
  return row!.id;
}

const publish = (checkId: string) =>
  broker.publish(syncQueue(destinationType), [{ check_id: checkId, destination_id: destinationId }]);

interface CheckRow {
  steps: CheckStep[];
  isEnded: boolean;
  isRemoved: boolean;
}

async function read(id: string): Promise<CheckRow> {
  const [row] = await db.query<CheckRow>(
    `select steps, ended_at is not null as "isEnded", removed_at is not null as "isRemoved"
       from sync.destination_checks where id = $1`,
    [id],
  );
  return row!;
}

/** Moves the end of a check into the past, so that its writes can no longer arrive. */
const timePasses = (id: string) =>
  db.query(`update sync.destination_checks set ends_at = now() - interval '2 minutes' where id = $1`, [id]);

const untilEnded = (id: string) => eventually(async () => (await read(id)).isEnded);

/** Runs a check on a worker. Returns its results by step, and whether the probe is known to be gone. */
async function check(store: Store, connect?: () => Promise<ConnectedDestination>) {
  const worker = workerOf(store, connect);
  await worker.start();
  const id = await request();
  await publish(id);
  await untilEnded(id);
  await worker.stop();
  const { steps, isRemoved } = await read(id);
  return { id, isRemoved, steps: steps.map(({ result, fault, message }) => message ?? fault ?? result) };
}

test('ends a check that it may not begin, so that nobody waits for it', async () => {
  const store = new Store();
  const worker = workerOf(store);
  await worker.start();
  const id = await request();
  await timePasses(id);
  await publish(id);
  await untilEnded(id);
  await worker.stop();
  expect(await read(id)).toMatchObject({ steps: [], isRemoved: false });
  expect(store.calls).toEqual([]);
});

test('creates the probe, changes it with a read, removes it, and leaves nothing behind', async () => {
  const store = new Store();
  expect(await check(store)).toMatchObject({ steps: ['ok', 'ok', 'ok', 'ok'], isRemoved: true });
  expect(store.calls).toEqual(['put', 'put', 'remove']);
  const [first, second] = store.puts;
  expect(first).toMatchObject({ externalName: 'probe', overwrite: false, remote: null, verify: false });
  expect(second).toMatchObject({ remote: { id: 1 }, valueChanged: true, verify: true });
  expect(second!.value.reveal()).not.toBe(first!.value.reveal());
  expect(second!.idempotencyToken).not.toBe(first!.idempotencyToken);
  expect(store.removals).toEqual([expect.objectContaining({ externalName: 'probe', remote: { id: 2 } })]);
  expect(store.value).toBeUndefined();
});

test('makes no call if the client cannot be created', async () => {
  const store = new Store();
  const connect = async () => {
    throw new Fault('rejected', 'no region');
  };
  const { steps, isRemoved } = await check(store, connect);
  expect(steps).toEqual(['no region', 'not_checked', 'not_checked', 'not_checked']);
  expect([store.calls, isRemoved]).toEqual([[], true]);
});

test('removes the probe also if creating it failed: a part of it may exist', async () => {
  const store = new Store();
  store.failures = [new Fault('forbidden', 'no permission')];
  expect(await check(store)).toMatchObject({
    steps: ['ok', 'no permission', 'not_checked', 'ok'],
    isRemoved: true,
  });
});

test('leaves nothing to be removed if the credentials are refused', async () => {
  const store = new Store();
  const refused = new Fault('unauthenticated', 'refused');
  store.failures = [refused, refused];
  expect(await check(store)).toMatchObject({
    steps: ['ok', 'refused', 'not_checked', 'refused'],
    isRemoved: true,
  });
});

test('removes the probe if changing it failed', async () => {
  const store = new Store();
  store.failures = [undefined, new Fault('forbidden', 'no permission')];
  expect(await check(store)).toMatchObject({ steps: ['ok', 'ok', 'no permission', 'ok'], isRemoved: true });
  expect(store.removals[0]!.remote).toEqual({ id: 1 });
});

test('does not touch a secret of its name that belongs to somebody else', async () => {
  const store = new Store();
  store.failures = [new Fault('conflict', 'taken')];
  expect(await check(store)).toMatchObject({
    steps: ['ok', 'taken', 'not_checked', 'not_checked'],
    isRemoved: true,
  });
  expect(store.calls).toEqual(['put']);
});

test.each<[string, (Error | undefined)[]]>([
  ['creation', [new Fault('unavailable', 'timed out')]],
  ['change', [undefined, new Error('unexpected')]],
])('a probe whose %s may still arrive is removed, but does not count as gone', async (_, failures) => {
  const store = new Store();
  store.failures = failures;
  const { id, isRemoved, steps } = await check(store);
  expect([steps[3], isRemoved]).toEqual(['ok', false]);
  expect(store.value).toBeUndefined();
  store.value = 'arrived late';
  await timePasses(id);
  const worker = workerOf(store);
  await worker.start();
  await publish(id); // as the sweep does
  await eventually(async () => (await read(id)).isRemoved);
  await worker.stop();
  expect(store.value).toBeUndefined();
});

test('repeats a call that the provider is not ready for', async () => {
  const store = new Store();
  store.failures = [undefined, new Fault('not_ready', 'busy')];
  expect(await check(store)).toMatchObject({ steps: ['ok', 'ok', 'ok', 'ok'] });
});

test('shows no details of an unexpected error', async () => {
  const store = new Store();
  store.failures = [new Error('canary')];
  const { steps } = await check(store);
  expect(steps[1]).toBe('an internal error; see the log of the sync worker');
});

test('reports a throttled call to the lane', async () => {
  const store = new Store();
  store.failures = [new Fault('throttled', 'slow down')];
  await check(store);
  expect(
    await db.query(`select reason from sync.destination_health where destination_id = $1`, [destinationId]),
  ).toEqual([{ reason: 'throttled' }]);
});

test('a probe that could not be removed is removed by the next check of the destination', async () => {
  const store = new Store();
  store.failures = [undefined, undefined, new Fault('forbidden', 'not allowed to delete')];
  const first = await check(store);
  expect(first).toMatchObject({ steps: ['ok', 'ok', 'ok', 'not allowed to delete'], isRemoved: false });
  await check(store);
  await eventually(() => store.removals.length === 3);
  expect(store.removals.at(-1)).toMatchObject({ entryId: first.id, remote: { id: 2 } });
  expect(await read(first.id)).toMatchObject({ isRemoved: false }); // a lost write may still arrive
  await timePasses(first.id);
  await check(store);
  await eventually(async () => (await read(first.id)).isRemoved);
});

test('a probe whose worker died is removed when the message comes again, and the check is not repeated', async () => {
  const store = new Store();
  const silent: ConnectedDestination = {
    ...store,
    put: async (request) => {
      await store.put(request);
      return new Promise(() => {});
    },
    remove: () => new Promise(() => {}),
    inspect: async () => ({ exists: false }) as const,
    list: async () => ({ secrets: [], next: null }),
    close: async () => {},
  };
  const id = await request();
  const dying = workerOf(silent, undefined, { stopGraceSeconds: 0.1 });
  await dying.start();
  await publish(id);
  await eventually(async () => store.value !== undefined);
  await dying.stop();
  expect(await read(id)).toMatchObject({ isRemoved: false });
  await timePasses(id);
  const other = workerOf(store);
  await other.start();
  await publish(id);
  await eventually(async () => (await read(id)).isRemoved);
  await publish(id); // nothing is left to do
  const next = await request();
  await publish(next);
  await untilEnded(next); // so the message before it was not left in the queue
  await other.stop();
  expect(store.calls).toEqual(['put', 'remove', 'put', 'put', 'remove']);
  expect(store.removals[0]).toMatchObject({ remote: null, putStartedAt: expect.any(Date) });
});

test('begins although probes of earlier checks are being removed', async () => {
  const store = new Store();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const removed = store.remove.bind(store);
  const lefts: string[] = [];
  let hanging = 0;
  store.remove = async (request) => {
    if (lefts.includes(request.entryId)) {
      hanging += 1;
      await released;
    }
    return removed(request);
  };
  for (let left = 0; left < 2; left += 1) {
    const [row] = await db.query<{ id: string }>(
      `insert into sync.destination_checks (destination_id, destination_type, external_name, ends_at, started_at, ended_at)
       values ($1, $2, 'probe', now() - interval '2 minutes', now(), now()) returning id`,
      [destinationId, destinationType],
    );
    lefts.push(row!.id);
  }
  const worker = workerOf(store, undefined, { concurrency: 8 });
  await worker.start();
  for (const left of lefts) await publish(left);
  await eventually(() => hanging === 2);
  const id = await request();
  await publish(id);
  await untilEnded(id);
  release();
  await worker.stop();
  expect((await read(id)).steps.map(({ result }) => result)).toEqual(['ok', 'ok', 'ok', 'ok']);
});

test('does not begin when nobody waits any longer', async () => {
  const store = new Store();
  const worker = workerOf(store);
  await worker.start();
  const late = await request(-1);
  await publish(late);
  await db.query('update sync.destination_checks set ended_at = now() where id = $1', [late]);
  const id = await request();
  await publish(id);
  await untilEnded(id);
  await worker.stop();
  expect(store.calls).toEqual(['put', 'put', 'remove']);
  expect((await read(late)).steps).toEqual([]);
});
