import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { LookPageMessage, syncQueue } from '@secrets/domain';
import {
  endInspectionPage,
  findInspectable,
  findListed,
  readInspectionPage,
  recordFailedLook,
  recordListed,
  recordLook,
} from '@secrets/sync-entries';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
/** The pages that were sent to workers. */
let pages: LookPageMessage[];

beforeEach(async () => {
  await sync.reset({ hasWorker: true });
  pages = [];
  at = await sync.fixture();
});

/** A page of an earlier test may arrive late. */
const exists = async (entryId: string) =>
  (await sync.db.query('select from sync.entries where id = $1', [entryId])).length > 0;

/** Does with each message what a worker does, except that pages are only collected. */
async function whileConsuming(use: () => Promise<void>): Promise<void> {
  const consumer = await sync.broker.consume(syncQueue('cloudA-sm'), { concurrency: 1 }, async (message) => {
    const page = LookPageMessage.safeParse(message);
    if (page.success && (await exists(page.data.entry_ids[0]!))) pages.push(page.data);
    return 'ack';
  });
  try {
    await use();
  } finally {
    await consumer.stop();
  }
}

/** Lets a day pass in which nothing has looked at what was pushed. */
async function dayPasses(): Promise<void> {
  await sync.db.query(
    `update sync.entries set synced_at = now() - interval '25 hours', verified_at = now() - interval '25 hours'`,
  );
  await roundEnds();
}

/** Lets the time of the next round come. */
const roundEnds = () =>
  sync.db.query(`update sync.inspections set due_at = now(), round_started_at = now() - interval '25 hours'`);

const inspection = async () =>
  (
    await sync.db.query<Record<string, unknown>>(
      `select i.page_id as "pageId", i.due_at <= now() as "isDue", i.due_at is null as "isOff", i.last_seen::int as "lastSeen",
              round(extract(epoch from i.due_at - i.round_started_at) / 3600)::int as "nextAfterHours"
         from sync.inspections i join sync.destinations d on d.id = i.destination_id where d.name = $1`,
      [at.name],
    )
  )[0]!;

const destination = async () => (await sync.call('GET', at.path)).body.data;

const endPage = ({ destination_id: destinationId, page_id: pageId }: LookPageMessage, isComplete = true) =>
  endInspectionPage(sync.db, { destinationId, pageId }, isComplete ? 'complete' : 'failed');

test('a day after it was verified, each external secret is looked at once, and a day later again', () =>
  whileConsuming(async () => {
    await at.push('a', 'b', 'c');
    await dayPasses();
    await eventually(async () => pages.length === 1);
    expect(pages[0]!.entry_ids).toHaveLength(3);
    expect(pages[0]).toMatchObject({ calls: 3, call_ms: 20 });
    expect(await destination()).not.toHaveProperty('inspected_at');
    await endPage(pages[0]!);
    await eventually(async () => (await inspection()).nextAfterHours === 24);
    expect(await destination()).toMatchObject({ inspected_at: expect.any(String) });
    expect(await inspection()).toMatchObject({ pageId: null, lastSeen: 3 });
    await dayPasses();
    await eventually(async () => pages.length === 2);
  }));

test('a look that has read the store before counts as of then, although it was recorded later', async () => {
  const isWanted = async () => {
    const page = { after: '', limit: 10, sinceSeconds: 60 };
    return (await readInspectionPage(sync.db, destinationId, page)).map((entry) => entry.isWanted);
  };
  await at.push('a');
  await dayPasses();
  const [row] = await sync.db.query<{ id: string; destinationId: string }>(
    `select e.id, e.destination_id as "destinationId" from sync.entries e join sync.destinations d on d.id = e.destination_id where d.name = $1`,
    [at.name],
  );
  const { id, destinationId } = row!;
  const lookOf = async (ageMs: number) => {
    const seen = { drift: 'none', evidence: 'mark', status: 'SYNCED', error: null } as const;
    expect(await recordLook(sync.db, (await findInspectable(sync.db, id))!, seen, ageMs)).toBe(true);
  };
  expect(await isWanted()).toEqual([true]);
  await lookOf(90_000);
  expect(await isWanted()).toEqual([true]);
  await recordListed(sync.db, await findListed(sync.db, [id]), 70_000);
  expect(await isWanted()).toEqual([true]);
  await lookOf(30_000);
  expect(await isWanted()).toEqual([false]);
  await recordListed(sync.db, await findListed(sync.db, [id]), 70_000); // older than what is known
  expect(await isWanted()).toEqual([false]);
});

test('what was looked at in vain is not looked at again at once', async () => {
  await at.push('a');
  await dayPasses();
  const [row] = await sync.db.query<{ id: string; destinationId: string }>(
    `select e.id, e.destination_id as "destinationId" from sync.entries e join sync.destinations d on d.id = e.destination_id where d.name = $1`,
    [at.name],
  );
  const { id, destinationId } = row!;
  await recordFailedLook(sync.db, (await findInspectable(sync.db, id))!, 'no answer');
  const page = { after: '', limit: 10, sinceSeconds: 60 };
  expect(await readInspectionPage(sync.db, destinationId, page)).toMatchObject([{ isWanted: false }]);
});

test('a destination shows how many of its external secrets have drifted, by kind', async () => {
  await at.push('a', 'b', 'c');
  expect(await destination()).not.toHaveProperty('drifted');
  await sync.db.query(`update sync.entries set drift = 'changed'`);
  expect(await destination()).toMatchObject({ drifted: { changed: 3 } });
});

test('an external secret that was just pushed is not looked at', () =>
  whileConsuming(async () => {
    await at.push('a');
    await roundEnds();
    await eventually(async () => (await inspection()).lastSeen === 1);
    expect(pages).toEqual([]);
  }));

test('a page that its worker does not end is sent again', () =>
  whileConsuming(async () => {
    await at.push('a');
    await dayPasses();
    await eventually(async () => pages.length === 1);
    await sync.db.query('update sync.inspections set due_at = now()');
    await eventually(async () => pages.length === 2);
    expect(pages[1]!.entry_ids).toEqual(pages[0]!.entry_ids);
    await endPage(pages[0]!);
    expect((await inspection()).pageId).toBe(pages[1]!.page_id);
  }));

test('nothing is looked at while the budget of the account has no call to spare, or it is paused', () =>
  whileConsuming(async () => {
    await at.push('a');
    await sync.db.query("update sync.lanes set tokens = 25, refilled_at = now() + interval '1 hour'");
    await dayPasses();
    await eventually(async () => !(await inspection()).isDue);
    await sync.db.query(
      "update sync.lanes set tokens = 50, refilled_at = now(), paused_until = now() + interval '1 hour', failures = 1",
    );
    await sync.db.query('update sync.inspections set due_at = now()');
    await eventually(async () => !(await inspection()).isDue);
    expect(pages).toEqual([]);
    await sync.db.query('update sync.lanes set paused_until = null, failures = 0');
    await sync.db.query('update sync.inspections set due_at = now()');
    await eventually(async () => pages.length === 1);
  }));

test('with the policy off, nothing is looked at until it is changed; a shorter period applies at once', () =>
  whileConsuming(async () => {
    await sync.call('PATCH', at.path, { drift_policy: 'off' });
    await eventually(async () => (await inspection()).isOff === true);
    await sync.call('PATCH', at.path, { drift_policy: 'report' });
    await eventually(async () => (await inspection()).nextAfterHours === 24);
    await sync.call('PATCH', at.path, { inspection_period: '2h' });
    await eventually(async () => (await inspection()).nextAfterHours === 2);
  }));

test('a period below five minutes and an unknown policy are refused', async () => {
  for (const [field, value] of Object.entries({ inspection_period: '299s', drift_policy: 'ignore' })) {
    const { status, body } = await sync.call('PATCH', at.path, { [field]: value });
    expect([status, body.errors]).toEqual([400, [expect.stringContaining(field)]]);
  }
});

describe('POST sys/sync/destinations/:type/:name/inspect without an association', () => {
  const inspect = () => sync.call('POST', `${at.path}/inspect`, {});
  const read = async () => (await sync.call('GET', at.path)).body.data;
  const work = async () =>
    (await sync.call('GET', '/sys/sync/status')).body.data.destinations[`cloudA-sm/${at.name}`].work;

  /** Pushes these secrets, longer ago than a store may need to show them. */
  async function pushEarlier(...names: string[]): Promise<void> {
    await at.push(...names);
    await sync.db.query(`update sync.entries set synced_at = now() - interval '10 minutes'`);
  }

  test('looks at everything at once, shows the progress until the end, and joins a request before', () =>
    whileConsuming(async () => {
      await pushEarlier('a', 'b');
      const { status, body } = await inspect();
      expect((await inspection()).pageId).not.toBeNull(); // without waiting for the task in the background
      const { inspect_initiated_at: since } = body.data;
      expect([status, body.data]).toEqual([
        200,
        expect.objectContaining({
          name: at.name,
          inspect_initiated_at: expect.any(String),
          inspect_remaining: 2,
        }),
      ]);
      await eventually(async () => pages.length === 1);
      expect(pages[0]).toMatchObject({
        requested: true,
        entry_ids: [expect.any(String), expect.any(String)],
      });
      expect((await inspect()).body.data.inspect_initiated_at).toBe(since);
      expect(await work()).toEqual(['inspect']);
      await endPage(pages[0]!);
      expect(await read()).not.toHaveProperty('inspect_initiated_at');
      expect(await work()).toEqual([]);
      await eventually(async () => (await inspection()).nextAfterHours === 24);
      expect(pages).toHaveLength(1);
    }));

  test.each([
    ['refuses messages', () => Promise.reject(new Error('refused'))],
    ['does not respond', (released: Promise<void>) => released],
  ])('responds, because the request is recorded, while the broker %s', async (_state, publish) => {
    await pushEarlier('a');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const broken = jest.spyOn(sync.broker, 'publish').mockImplementation(() => publish(released));
    const response = await Promise.race([inspect(), sleep(10_000, undefined, { ref: false })]);
    release();
    broken.mockRestore();
    expect([response?.status, response?.body.data]).toEqual([
      200,
      expect.objectContaining({ inspect_initiated_at: expect.any(String), inspect_remaining: 1 }),
    ]);
    await sync.db.query('update sync.inspections set due_at = now()'); // the page was not ended in time
    await whileConsuming(() => eventually(async () => pages.length === 1));
  });

  test('leaves out, when a page is sent again, what was looked at since the request', () =>
    whileConsuming(async () => {
      await pushEarlier('a', 'b');
      await inspect();
      await eventually(async () => pages.length === 1);
      const [seen, unseen] = pages[0]!.entry_ids;
      await sync.db.query(
        'update sync.entries set looked_at = clock_timestamp(), verified_at = clock_timestamp() where id = $1',
        [seen],
      );
      await sync.db.query('update sync.inspections set due_at = now()');
      await eventually(async () => pages.length === 2);
      expect(pages[1]!.entry_ids).toEqual([unseen]);
    }));

  test('is cancelled by a purge', () =>
    whileConsuming(async () => {
      await pushEarlier('a');
      await inspect();
      expect((await sync.call('DELETE', `${at.path}?purge=true`)).status).toBe(204);
      expect(await read()).not.toHaveProperty('inspect_initiated_at');
      expect((await inspect()).status).toBe(409);
    }));

  test('returns 409 while the destination is paused, and looks at nothing', async () => {
    await at.push('a');
    await sync.db.query(
      `insert into sync.destination_health (destination_id, destination_type, failures, reason, paused_until)
       select id, type, 1, 'unauthenticated', now() + interval '1 hour' from sync.destinations where name = $1
       on conflict (destination_id) do update set failures = 1, reason = excluded.reason, paused_until = excluded.paused_until`,
      [at.name],
    );
    const { status, body } = await inspect();
    expect([status, body.errors]).toEqual([
      409,
      [expect.stringMatching(/^this destination is paused until .*: the provider refuses the credentials$/)],
    ]);
    expect(await read()).not.toHaveProperty('inspect_initiated_at');
  });
});
