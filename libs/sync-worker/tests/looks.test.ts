import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Fault, syncQueue } from '@secrets/domain';
import { seal } from '@secrets/seal';
import {
  countFailedBeforeRetry,
  findInspectable,
  pushSomeAgain,
  recordLook,
  requestPut,
  requestRemoval,
  retryFailed,
  startInspectionPage,
} from '@secrets/sync-entries';
import { createLogger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination, PutRequest } from '../src/driver/driver.ts';
import type { FoundSecret, InspectRequest, Look } from '../src/driver/look.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { destinationType, insertSyncedSecret } from './synced-secret.ts';
import { useServers } from './use-servers.ts';

const { db, broker, keyRing, depsOfWorker } = useServers();

const found: FoundSecret = {
  exists: true,
  belongs: 'own',
  mark: '7',
  isUntouched: false,
  value: 'unread',
  changedAt: null,
};

let deps: ReturnType<typeof depsOfWorker>;
/** The lines that the worker has logged. */
let logged: { level: string; msg: string; fault?: string; reason?: string; destinationId?: string }[];
let looks: InspectRequest[];
let puts: PutRequest[];
/** The entries that lists show as unchanged, if the store has such lists. */
let untouched: ((ids: readonly string[]) => string[]) | undefined;
/** The result of the next looks. */
let answer: (request: InspectRequest) => Look | Promise<Look>;
beforeEach(() => {
  logged = [];
  looks = [];
  puts = [];
  untouched = undefined;
  answer = () => ({ ...found, isUntouched: true });
});

const store: ConnectedDestination = {
  put: async (request) => {
    puts.push(request);
    return { remote: { id: 1 } };
  },
  remove: async () => {},
  inspect: async (request) => {
    looks.push(request);
    return answer(request);
  },
  list: async () => ({ secrets: [], next: null }),
  close: async () => {},
};

const withLists = (without: ConnectedDestination): ConnectedDestination => {
  const find = untouched;
  if (find === undefined) return without;
  return {
    ...without,
    findUntouched: async (requests) => ({ entryIds: find(requests.map(({ entryId }) => entryId)), pages: 3 }),
  };
};

interface LookRow {
  status: string;
  lastError: string | null;
  remote: unknown;
  generation: number;
  drift: string | null;
  evidence: string | null;
  error: string | null;
  lookedAt: Date | null;
  verifiedAt: Date | null;
  seenAt: Date | null;
}

async function read(id: string): Promise<LookRow> {
  const [row] = await db.query<LookRow>(
    `select status, last_error as "lastError", remote, generation, drift, evidence, look_error as error, looked_at as "lookedAt", verified_at as "verifiedAt",
            drift_seen_at as "seenAt" from sync.entries where id = $1`,
    [id],
  );
  return row!;
}

/** Starts a worker and pushes one key, as long ago as a store may need to show it. */
const withPushed = (use: (id: string) => Promise<void>): Promise<void> =>
  withAllPushed(['k'], ([id = '']) => use(id));

/** Starts a worker and pushes these keys. */
async function withAllPushed(
  keys: readonly string[],
  use: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  const values = Object.fromEntries(keys.map((key) => [key, 'v']));
  const ids = await insertSyncedSecret(db, keyRing, values);
  const write = (line: string) => void logged.push(JSON.parse(line));
  deps = { ...depsOfWorker(), log: createLogger({ service: 'test', level: 'info', destination: { write } }) };
  const worker = createSyncWorker({ type: destinationType, connect: async () => withLists(store) }, deps, {
    concurrency: 4,
    leaseSeconds: 60,
    prefix: 'secrets',
  });
  await worker.start();
  try {
    for (const id of ids) await push(id);
    await db.query(`update sync.entries set synced_at = now() - interval '10 minutes'`);
    await use(ids);
  } finally {
    await worker.stop();
  }
}

const publish = (id: string, more: object = {}) =>
  broker.publish(syncQueue(destinationType), [{ entry_id: id, destination_id: id, ...more }]);

async function push(id: string): Promise<void> {
  await publish(id);
  await eventually(async () => (await read(id)).status === 'SYNCED');
}

async function look(id: string): Promise<LookRow> {
  const before = (await read(id)).lookedAt?.getTime();
  await publish(id, { look: true });
  await eventually(async () => (await read(id)).lookedAt?.getTime() !== before);
  return read(id);
}

test('a look records the drift, when it was first seen, and that the entry waits for the operator', () =>
  withPushed(async (id) => {
    const pushed = await read(id);
    expect(pushed).toMatchObject({ drift: 'none', evidence: null, verifiedAt: expect.any(Date) });
    answer = () => ({ ...found, value: 'different' });
    const first = await look(id);
    expect(first).toMatchObject({ drift: 'changed', evidence: 'value', seenAt: expect.any(Date) });
    expect(first).toMatchObject({ status: 'CLIENT_SIDE_ERROR', lastError: expect.any(String) });
    const { remote, generation } = pushed;
    expect(first).toMatchObject({ remote, generation });
    const second = await look(id);
    expect(second).toMatchObject({ drift: 'changed', seenAt: first.seenAt });
    expect(second.verifiedAt!.getTime()).toBeGreaterThan(first.verifiedAt!.getTime());
    answer = () => ({ exists: false });
    const missing = await look(id);
    expect(missing).toMatchObject({ drift: 'missing', evidence: null });
    expect(missing.seenAt!.getTime()).toBeGreaterThan(first.seenAt!.getTime());
    answer = () => ({ ...found, isUntouched: true });
    expect(await look(id)).toMatchObject({ ...settled, drift: 'none', seenAt: null });
  }));

const settled = { status: 'SYNCED', lastError: null };

test('a look keeps what is contested, and counts it as that, until somebody has put it right', () =>
  withPushed(async (id) => {
    await drift(id);
    await db.query(`update sync.entries set drift = 'contested', last_error = 'undone twice' where id = $1`, [
      id,
    ]);
    const contested = await look(id);
    expect(contested).toMatchObject({ status: 'CLIENT_SIDE_ERROR', drift: 'contested', evidence: 'value' });
    expect(contested.lastError).toBe('undone twice');
    expect(await looksThatFound('changed', 'contested')).toEqual([1, 1]);
    answer = () => ({ ...found, isUntouched: true });
    expect(await look(id)).toMatchObject({ ...settled, drift: 'none' });
  }));

/** Has the worker find the external secret changed. */
async function drift(id: string): Promise<void> {
  answer = () => ({ ...found, value: 'different' });
  expect(await look(id)).toMatchObject({ status: 'CLIENT_SIDE_ERROR' });
}

const destinationOf = async (id: string): Promise<string> =>
  (
    await db.query<{ destinationId: string }>(
      'select destination_id as "destinationId" from sync.entries where id = $1',
      [id],
    )
  )[0]!.destinationId;

test('a write of the destination does not retry what has drifted; a retry does, and reads it', () =>
  withPushed(async (id) => {
    await drift(id);
    const destinationId = await destinationOf(id);
    await db.query('update sync.destinations set retry_initiated_at = clock_timestamp()');
    expect(await countFailedBeforeRetry(db, destinationId, 1, 'refused')).toBe(0);
    await retryFailed(db, destinationId, 1, 'refused');
    expect(await read(id)).toMatchObject({ status: 'CLIENT_SIDE_ERROR' });
    await retryFailed(db, destinationId, 1, 'waiting');
    await push(id);
    expect(await read(id)).toMatchObject({ ...settled, drift: 'none' });
    expect(puts).toMatchObject([{}, { verify: true }]);
  }));

test('what was put right after a change of settings is pushed again, because that change has left it out', () =>
  withPushed(async (id) => {
    await drift(id);
    const destinationId = await destinationOf(id);
    await db.query(`update sync.destinations set settings = settings || '{"custom_tags": {"a": "b"}}'`);
    await pushSomeAgain(db, destinationId, '', 10, { verify: false, overwrite: false });
    expect(await read(id)).toMatchObject({ status: 'CLIENT_SIDE_ERROR' });
    answer = () => ({ ...found, isUntouched: true });
    expect(await look(id)).toMatchObject({ status: 'PENDING', generation: 1 });
    await push(id);
    expect(puts).toHaveLength(2);
  }));

test('what has drifted is removed as everything else is', () =>
  withPushed(async (id) => {
    await drift(id);
    await requestRemoval(db, [{ id, waitsFor: null }]);
    await publish(id);
    await eventually(async () => (await read(id)) === undefined);
  }));

test('of two looks at once, the later one to end changes nothing if the other has proved something', () =>
  withPushed(async (id) => {
    const [older, newer] = [(await findInspectable(db, id))!, (await findInspectable(db, id))!];
    const outcome = { evidence: 'value', error: null } as const;
    expect(await recordLook(db, newer, { ...outcome, drift: 'none', status: 'SYNCED' })).toBe(true);
    expect(await recordLook(db, older, { ...outcome, drift: 'changed', status: 'CLIENT_SIDE_ERROR' })).toBe(
      false,
    );
  }));

test('what a look has proved is as old as the read of the store, not as its record', () =>
  withPushed(async (id) => {
    const startOf: Date[] = [];
    answer = async () => {
      startOf.push((await db.query<{ at: Date }>('select clock_timestamp() as at'))[0]!.at);
      await sleep(500);
      return { ...found, isUntouched: true };
    };
    const { verifiedAt, lookedAt } = await look(id);
    expect(Math.abs(verifiedAt!.getTime() - startOf[0]!.getTime())).toBeLessThan(250);
    expect(lookedAt!.getTime() - verifiedAt!.getTime()).toBeGreaterThanOrEqual(450);
  }));

test('with the policy off, a look that was requested shows the drift, and leaves the status', () =>
  withPushed(async (id) => {
    await db.query(`update sync.destinations set settings = settings || '{"drift_policy": "off"}'`);
    answer = () => ({ ...found, value: 'different' });
    expect(await look(id)).toMatchObject({ ...settled, drift: 'changed' });
  }));

test('a look compares with the value that was pushed, and passes what is remembered', () =>
  withPushed(async (id) => {
    await look(id);
    const [request] = looks;
    expect(request).toMatchObject({ entryId: id, externalName: 'k', remote: { id: 1 } });
    expect(request!.isSameValue(seal('v'))).toBe(true);
    expect(request!.isSameValue(seal('w'))).toBe(false);
  }));

test('a look stores what it has found to remember, unless the external secret has drifted', () =>
  withPushed(async (id) => {
    answer = () => ({ ...found, value: 'different', remote: { id: 2 } });
    expect(await look(id)).toMatchObject({ drift: 'changed', remote: { id: 1 } });
    answer = () => ({ ...found, value: 'same', remote: { id: 3 } });
    expect(await look(id)).toMatchObject({ drift: 'none', remote: { id: 3 } });
    answer = () => ({ ...found, isUntouched: true });
    expect(await look(id)).toMatchObject({ drift: 'none', remote: { id: 3 } });
    expect(looks.at(-1)!.remote).toEqual({ id: 3 });
  }));

test('a look that fails changes nothing of what was found before, and says why', () =>
  withPushed(async (id) => {
    answer = () => ({ ...found, value: 'different' });
    const before = await look(id);
    answer = () => {
      throw new Fault('forbidden', 'Get: permission denied');
    };
    const { lookedAt: _, error, ...after } = await look(id);
    expect(error).toBe('Get: permission denied');
    expect(after).toEqual({ ...before, lookedAt: undefined, error: undefined });
  }));

test('a look soon after a push proves nothing, because reads may be older', () =>
  withPushed(async (id) => {
    await db.query(`update sync.entries set synced_at = now() - interval '4 minutes' where id = $1`, [id]);
    answer = () => ({ exists: false });
    expect(await look(id)).toMatchObject({
      drift: 'none',
      error: expect.stringContaining('look again later'),
    });
    answer = () => ({ ...found, isUntouched: true });
    expect(await look(id)).toMatchObject({ drift: 'none', evidence: 'mark', error: null });
  }));

test('what a look has found is not recorded if the secret was requested or pushed meanwhile', () =>
  withPushed(async (id) => {
    let hasPushed = false;
    answer = async () => {
      await requestPut(db, [id], { verify: true });
      await push(id);
      hasPushed = true;
      return { exists: false };
    };
    await publish(id, { look: true });
    await eventually(() => hasPushed);
    answer = () => {
      throw new Fault('unavailable', 'keeps what was found before');
    };
    expect(await look(id)).toMatchObject({ drift: 'none', seenAt: null, evidence: null });
  }));

test('a push of the same value compares it if it has drifted, which ends the drift', () =>
  withPushed(async (id) => {
    await drift(id);
    await requestPut(db, [id]);
    await push(id);
    expect(await read(id)).toMatchObject({ ...settled, drift: 'none', evidence: null, seenAt: null });
    expect(puts).toMatchObject([{}, { verify: true, valueChanged: false }]);
  }));

test('an entry that is to be pushed is not looked at', () =>
  withPushed(async (id) => {
    await requestPut(db, [id]);
    await publish(id, { look: true });
    await push(id);
    expect(looks).toEqual([]);
  }));

/** Has the worker look at a page of entries, and returns the row of its inspection when that has ended. */
async function lookAtPage(ids: readonly string[], calls?: number, callMs?: number) {
  const pageId = randomUUID();
  const destinationId = await destinationOf(ids[0]!);
  await startInspectionPage(db, destinationId, { id: pageId, end: 'm', seen: 3 });
  const page = { look: true, destination_id: destinationId, page_id: pageId, entry_ids: ids, calls };
  await publish(ids[0]!, { ...page, call_ms: callMs });
  const readRow = () =>
    db.query<{ pageId: string | null; position: string; seen: number; isDue: boolean }>(
      `select page_id as "pageId", position, seen, due_at <= now() as "isDue" from sync.inspections where destination_id = $1`,
      [destinationId],
    );
  await eventually(async () => (await readRow())[0]!.pageId === null);
  return (await readRow())[0];
}

/** The calls that the account of an entry's destination has left. */
async function readTokens(id: string): Promise<number> {
  const [lane] = await db.query<{ tokens: number }>(
    `select tokens from sync.lanes where id = (select lane_id from sync.destinations where id = $1)`,
    [await destinationOf(id)],
  );
  return lane!.tokens;
}

async function msUntilDue(id: string): Promise<number> {
  const [row] = await db.query<{ ms: number }>(
    'select extract(epoch from due_at - now())::float8 * 1000 as ms from sync.inspections where destination_id = $1',
    [await destinationOf(id)],
  );
  return row!.ms;
}

/** The counts of `sync_looks_total`. */
async function looksThatFound(...findings: readonly string[]): Promise<number[]> {
  const lines = (await deps.metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('sync_looks_total{'));
  return findings.map((found) =>
    Number(
      lines
        .find((line) => line.includes(`found="${found}"`))
        ?.split(' ')
        .at(-1),
    ),
  );
}

const ofPage = ['a', 'b', 'c', 'd', 'e'];

test('a page of looks records what each has found, and then its end', () =>
  withAllPushed(ofPage, async (ids) => {
    answer = ({ externalName }) => ({ ...found, isUntouched: externalName !== 'c', value: 'different' });
    expect(await lookAtPage(ids)).toEqual({ pageId: null, position: 'm', seen: 3, isDue: true });
    const drifts = [];
    for (const id of ids) drifts.push((await read(id)).drift);
    expect(drifts).toEqual(['none', 'none', 'changed', 'none', 'none']);
    expect(await looksThatFound('none', 'changed', 'unknown')).toEqual([4, 1, 0]);
  }));

test('a page looks at no more than the calls that were taken for it, or ten, also if no list is read', () =>
  withAllPushed(
    Array.from({ length: 12 }, (_, number) => `k${number}`),
    async (ids) => {
      expect(await lookAtPage(ids)).toMatchObject({ position: '', isDue: true });
      expect(looks).toHaveLength(10);
      looks = [];
      expect(await lookAtPage(ids, 12)).toMatchObject({ position: 'm' });
      expect(looks).toHaveLength(12);
    },
  ));

test('a page of looks continues after a failure of one external secret', () =>
  withAllPushed(ofPage, async (ids) => {
    answer = () => {
      throw new Fault('forbidden', 'no');
    };
    expect(await lookAtPage(ids)).toMatchObject({ position: 'm', isDue: true });
    expect(looks).toHaveLength(5);
    expect(await looksThatFound('none', 'unknown')).toEqual([0, 5]);
  }));

test('looks that fail are logged as an error once per destination and cause, not per external secret', () =>
  withAllPushed(ofPage, async (ids) => {
    const destinationId = await destinationOf(ids[0]!);
    answer = ({ externalName }) => {
      throw new Fault(externalName === 'c' ? 'rejected' : 'forbidden', 'no');
    };
    await lookAtPage(ids);
    await lookAtPage(ids);
    const failed = logged.filter(({ msg }) => msg === 'a look failed');
    expect(failed).toHaveLength(10);
    expect(failed.every((line) => line.destinationId === destinationId && line.reason === 'no')).toBe(true);
    const warned = failed.filter(({ level }) => level === 'error').map(({ fault }) => fault);
    expect(warned.sort()).toEqual(['forbidden', 'rejected']);
  }));

test('a look that proves nothing yet is no reason for an error', () =>
  withPushed(async (id) => {
    await db.query(`update sync.entries set synced_at = now() where id = $1`, [id]);
    answer = () => ({ exists: false });
    await look(id);
    expect(logged.filter(({ level }) => level !== 'info')).toEqual([]);
    expect(logged.filter(({ msg }) => msg === 'a look failed')).toMatchObject([{ level: 'info' }]);
  }));

test('the rest of a page of looks is left for later when the destination fails', () =>
  withAllPushed(ofPage, async (ids) => {
    answer = () => {
      throw new Fault('unavailable', 'no');
    };
    expect(await lookAtPage(ids)).toMatchObject({ position: '', seen: 0, isDue: false });
    expect(looks.length).toBeLessThan(ids.length);
  }));

test('a page of looks during which syncing is held is left for later', () =>
  withAllPushed(ofPage, async (ids) => {
    const hold = (otherName: string | null) =>
      db.query('update sync.installation set other_name = $1', [otherName]);
    answer = async () => {
      await hold('copy');
      return { ...found, isUntouched: true };
    };
    expect(await lookAtPage(ids).finally(() => hold(null))).toMatchObject({ position: '', isDue: false });
    expect(looks.length).toBeLessThan(ids.length);
  }));

test('a page of looks during which the destination is paused is left for later', () =>
  withAllPushed(ofPage, async (ids) => {
    answer = async () => {
      await db.query(`update sync.lanes set paused_until = now() + interval '1 minute', failures = 1`);
      return { ...found, isUntouched: true };
    };
    expect(await lookAtPage(ids)).toMatchObject({ position: '', isDue: false });
    expect(looks.length).toBeLessThan(ids.length);
  }));

describe('where one list serves many entries', () => {
  test('a page looks only at those that the list does not show as unchanged', async () => {
    untouched = (ids) => ids.slice(0, 3);
    await withAllPushed(ofPage, async (ids) => {
      answer = () => ({ exists: false });
      expect(await lookAtPage(ids)).toMatchObject({ position: 'm', seen: 3 });
      const rows = await Promise.all(ids.map(read));
      expect(rows.map(({ drift, evidence }) => [drift, evidence])).toEqual([
        ...Array(3).fill(['none', 'mark']),
        ...Array(2).fill(['missing', null]),
      ]);
      expect(looks).toHaveLength(2);
      expect(await looksThatFound('none', 'missing')).toEqual([3, 2]);
    });
  });

  test('a drift that was found before is not ended by the list', async () => {
    untouched = (ids) => [...ids];
    await withAllPushed(ofPage, async (ids) => {
      answer = () => ({ exists: false });
      await look(ids[0]!);
      await lookAtPage(ids);
      expect((await read(ids[0]!)).drift).toBe('missing');
      expect(looks).toHaveLength(2);
    });
  });

  test('a page looks at ten others at most, and the rest is looked at next', async () => {
    untouched = () => [];
    const keys = Array.from({ length: 12 }, (_, number) => `k${number}`);
    await withAllPushed(keys, async (ids) => {
      const before = await readTokens(ids[0]!);
      expect(await lookAtPage(ids)).toMatchObject({ position: '', isDue: true });
      expect(looks).toHaveLength(10);
      expect(await readTokens(ids[0]!)).toBeCloseTo(before);
    });
  });

  test('the next page waits for calls that were not taken out of the budget, and entries do not', async () => {
    untouched = () => [];
    await withAllPushed(ofPage, async (ids) => {
      const before = await readTokens(ids[0]!);
      expect(await lookAtPage(ids, 2, 20_000)).toMatchObject({ position: 'm', isDue: false });
      expect(await msUntilDue(ids[0]!)).toBeGreaterThan((3 + 5 - 2 - 1) * 20_000);
      expect(await msUntilDue(ids[0]!)).toBeLessThanOrEqual((3 + 5 - 2) * 20_000);
      expect(await readTokens(ids[0]!)).toBeCloseTo(before);
    });
  });

  test('a page looks at as many others as calls were taken for it', async () => {
    untouched = () => [];
    const keys = Array.from({ length: 20 }, (_, number) => `k${number}`);
    await withAllPushed(keys, async (ids) => {
      const before = await readTokens(ids[0]!);
      expect(await lookAtPage(ids, 15)).toMatchObject({ position: '', isDue: true });
      expect(looks).toHaveLength(15 - 3);
      expect(await readTokens(ids[0]!)).toBeCloseTo(before);
    });
  });

  test('calls that were taken for a page and not made return to the budget', async () => {
    untouched = (ids) => [...ids];
    await withAllPushed(ofPage, async (ids) => {
      const before = await readTokens(ids[0]!);
      expect(await lookAtPage(ids, 5)).toMatchObject({ position: 'm' });
      expect((await readTokens(ids[0]!)) - before).toBeCloseTo(5 - 3);
    });
  });

  test('nothing is concluded from a list that cannot be read', async () => {
    untouched = () => {
      throw new Fault('throttled', 'list: too many requests');
    };
    await withAllPushed(ofPage, async (ids) => {
      expect(await lookAtPage(ids)).toMatchObject({ position: '', isDue: false });
      expect(looks).toEqual([]);
    });
  });
});
