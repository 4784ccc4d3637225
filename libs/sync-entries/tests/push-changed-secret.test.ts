import { beforeEach, expect, test } from '@jest/globals';
import { pushChangedSecret } from '../src/index.ts';
import { destinationType, entriesForTest, pushed } from './entries-for-test.ts';

const { db, associationId, add, claim, complete, entry, due } = entriesForTest();
let entryId: string;
let secretId: string;

/** Creates the secret of the association with this revision, and an entry that is synced. */
beforeEach(async () => {
  entryId = await add();
  await complete((await claim(entryId))!, pushed);
  const [row] = await db.query<{ secretId: string }>(
    'select secret_id as "secretId" from sync.associations where id = $1',
    [associationId()],
  );
  secretId = row!.secretId;
  await db.query('delete from secrets.secrets');
  await db.query('delete from secrets.mounts');
  await db.query(
    `insert into secrets.mounts (id, namespace_id, path, accessor) values ($1::uuid, 'root', 'kv', $1::uuid::text)`,
    [secretId],
  );
  await db.query(
    `insert into secrets.secrets (id, mount_id, path, revision) values ($1::uuid, $1::uuid, 's', 2)`,
    [secretId],
  );
});

const push = (types: readonly string[] = [destinationType]) => pushChangedSecret(db, secretId, types);
const found = (isFollowed: boolean) => [{ id: associationId(), destinationType, isFollowed }];

test('pushes a secret again that is pushed as a whole, and records its revision', async () => {
  expect(await push()).toEqual(found(true));
  expect(await due()).toEqual([entryId]);
  expect(await entry(entryId)).toMatchObject({ generation: 2, status: 'PENDING' });
  const rows = await db.query('select from sync.associations where planned_revision = 2');
  expect(rows).toHaveLength(1);
});

test('requests nothing for a repeated message about a secret whose push was requested', async () => {
  await push();
  expect(await push()).toEqual(found(true));
  expect(await entry(entryId)).toMatchObject({ generation: 2 });
});

test.each([
  ['that is pushed by key', "update sync.entries set sub_key = 'k'"],
  [
    'whose association was planned from a later revision',
    'update sync.associations set planned_revision = 3',
  ],
  ['whose association is being removed', 'update sync.associations set removing = true'],
  ['whose association is marked', 'update sync.associations set source_gone_at = now()'],
  ['that is gone', 'delete from secrets.secrets'],
  ['whose mount is disabled', 'update secrets.mounts set disabled_at = now()'],
  ['whose destination is deleted', 'update sync.destinations set deleted_at = now(), namespace_id = null'],
])('leaves a secret to be compared %s', async (_, statement) => {
  await db.query(statement);
  expect(await push()).toEqual(found(false));
  expect(await due()).toEqual([]);
});

test('leaves out destination types that this version does not have', async () => {
  expect(await push(['another'])).toEqual(found(false));
});
