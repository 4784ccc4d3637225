import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  type ClaimedEntry,
  claimEntries,
  completeEntries,
  completeRemoval,
  failEntry,
  insertEntries,
  lockName,
  readEntryContexts,
  recordPutStart,
  rememberScope,
  requestRemoval,
} from '../../src/index.ts';
import { entriesForTest, pushed, rejected } from '../entries-for-test.ts';

const { db } = entriesForTest();

interface Placed {
  type: string;
  destinationId: string;
  entryId: string;
}

/** Adds a destination with an entry of this name, in the repository with this ID. */
async function place(
  scopeId: string | null,
  { name = 'P', settings = {}, namespaceId = 'root', type = 'codehost' } = {},
): Promise<Placed> {
  const destinationId = randomUUID();
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings, scope_id) values ($1, $2, '', $3, $4, $5::jsonb, $6)`,
    [destinationId, namespaceId, type, `d-${destinationId}`, JSON.stringify(settings), scopeId],
  );
  const [association] = await db.query<{ id: string }>(
    `insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ($1, $2, $3, 'kv', 'kv_1', $3, 's', 1) returning id`,
    [destinationId, namespaceId, randomUUID()],
  );
  const wanted = [{ subKey: '', externalName: name, collisionKey: name }];
  const entries = await insertEntries(
    db,
    { id: association!.id, destinationId, destinationType: type },
    wanted,
  );
  return { type, destinationId, entryId: entries[0]!.id };
}

async function claim({ entryId, type }: Placed): Promise<ClaimedEntry> {
  const [claimed] = await claimEntries(db, {
    entryIds: [entryId],
    destinationType: type,
    owner: 'w',
    leaseSeconds: 30,
  });
  return claimed!;
}

const rivalOf = async ({ entryId }: Placed) =>
  (await readEntryContexts(db, [entryId])).get(entryId)!.place.rival;

/** Begins to write the external secret, as a worker does. Returns undefined if another destination holds it. */
const start = async (held: ClaimedEntry) =>
  db.transaction(async (tx) =>
    (await lockName(tx, held.id))?.isHolder ? undefined : recordPutStart(tx, held),
  );

async function sync(placed: Placed): Promise<void> {
  const held = await claim(placed);
  expect(await start(held)).toBe(true);
  await completeEntries(db, [{ held, achieved: pushed }]);
}

const stateOf = async ({ entryId }: Placed) =>
  (
    await db.query<{ status: string; isDue: boolean }>(
      `select status, coalesce(due_at <= now(), false) as "isDue" from sync.entries where id = $1`,
      [entryId],
    )
  )[0];

beforeEach(async () => {
  await db.query(`insert into login.namespaces (id, path) values ('n1', 'n1') on conflict do nothing`);
});

describe('entries of one external name in one place', () => {
  test('of two that begin at the same moment, exactly one may write', async () => {
    const claims = await Promise.all([await place('7'), await place('7')].map(claim));
    const started = await Promise.all(claims.map(start));
    expect(started.toSorted()).toEqual([true, undefined]);
  });

  test('the one that has begun first holds it, also before the other one has made contact', async () => {
    const [first, second] = [await place('7'), await place(null)];
    await sync(first);
    const held = await claim(second);
    expect(await rivalOf(second)).toBeNull();
    await rememberScope(db, second.destinationId, '7');
    expect(await start(held)).toBeUndefined();
    expect(await rivalOf(second)).toMatchObject({ isHolder: true, isWanted: true });
    expect(await rivalOf(first)).toBeNull();
  });

  test('a destination that has written nothing holds nothing', async () => {
    await claim(await place('7'));
    await sync(await place('7'));
  });

  test('where both have written it, the older one holds it, and neither removal is to delete it', async () => {
    const [first, second] = [await place('7'), await place('8')];
    await sync(first);
    await sync(second);
    await db.query(`update sync.destinations set scope_id = '7' where id = $1`, [second.destinationId]);
    expect(await rivalOf(first)).toMatchObject({ isHolder: false, isWanted: true });
    expect(await rivalOf(second)).toMatchObject({ isHolder: true });
  });

  test('is named only in its own namespace', async () => {
    const first = await place('7');
    await sync(first);
    expect(await rivalOf(await place('7'))).toMatchObject({ destinationName: `d-${first.destinationId}` });
    expect(await rivalOf(await place('7', { namespaceId: 'n1' }))).toMatchObject({ destinationName: null });
  });

  test('holds nothing in a scope that was confirmed since, until it has begun to write there', async () => {
    const [moved, other] = [await place('7'), await place('8')];
    await sync(moved);
    await sync(other);
    await db.query(
      `update sync.destinations set scope_id = '8', scope_confirmed_at = now() + interval '1 second' where id = $1`,
      [moved.destinationId],
    );
    expect(await rivalOf(other)).toBeNull();
    expect(await rivalOf(moved)).toMatchObject({ isHolder: true });
  });
});

test.each([
  ['another repository', '8', {}],
  ['another name', '7', { name: 'Q' }],
  ['another environment of the repository', '7/1', { settings: { environment_name: 'prod' } }],
  ['secrets of another use', '7', { settings: { secrets_app: 'dependabot' } }],
  ['an organization whose ID is the same', '7', { settings: { secrets_location: 'organization' } }],
  ['another server', '7', { settings: { enterprise_url: 'https://git.example.com' } }],
])('%s is another place or name', async (_, scopeId, options) => {
  await sync(await place('7'));
  await sync(await place(scopeId, options));
});

test('an environment is the same place for credentials that may not read its ID', async () => {
  await sync(await place('7/1', { settings: { environment_name: 'Prod' } }));
  const second = await place('7', { settings: { environment_name: 'prod' } });
  expect(await rivalOf(second)).toMatchObject({ isHolder: true });
});

test('an entry that was refused is due again when the holder is removed', async () => {
  const [first, second] = [await place('7'), await place('7')];
  await sync(first);
  await failEntry(db, await claim(second), { ...rejected, fault: 'conflict', retryInSeconds: 3600 });
  expect(await stateOf(second)).toEqual({ status: 'CLIENT_SIDE_ERROR', isDue: false });
  await requestRemoval(db, [{ id: first.entryId, waitsFor: null }]);
  await completeRemoval(db, await claim(first));
  expect(await stateOf(second)).toEqual({ status: 'PENDING', isDue: true });
});

test.each(['codehost', 'webhost-project'])(
  'a removal in a scope of %s makes room for entries of its other destinations',
  async (type) => {
    const [first, second] = [await place('7', { type }), await place('7', { type, name: 'Q' })];
    const elsewhere = await place('8', { type });
    await sync(first);
    for (const placed of [second, elsewhere])
      await failEntry(db, await claim(placed), { ...rejected, fault: 'full', retryInSeconds: 3600 });
    await requestRemoval(db, [{ id: first.entryId, waitsFor: null }]);
    await completeRemoval(db, await claim(first));
    expect([(await stateOf(second))?.isDue, (await stateOf(elsewhere))?.isDue]).toEqual([true, false]);
  },
);

test('a removal wakes few of the entries without room, however many destinations a scope has', async () => {
  const first = await place('7');
  await sync(first);
  const others = await Promise.all(Array.from({ length: 12 }, (_, n) => place('7', { name: `N${n}` })));
  for (const placed of others)
    await failEntry(db, await claim(placed), { ...rejected, fault: 'full', retryInSeconds: 3600 });
  await requestRemoval(db, [{ id: first.entryId, waitsFor: null }]);
  await completeRemoval(db, await claim(first));
  const states = await Promise.all(others.map(stateOf));
  expect(states.filter((state) => state?.isDue)).toHaveLength(10);
});
