import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Db, openPostgres } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { versionWriter } from '../src/kv/versions/version-writer.ts';
import type { NewVersion } from '../src/queries/versions/insert-version.ts';
import { insertVersions } from '../src/queries/versions/insert-versions.ts';
import { type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
let mount: { id: string; namespaceId: string; path: string };

beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.call('POST', '/sys/mounts/kv', { type: 'kv', config: { max_versions: 3 } });
  const [row] = await secrets.db.query<{ id: string }>("select id from secrets.mounts where path = 'kv'");
  mount = { id: row!.id, namespaceId: 'root', path: 'kv' };
});
afterAll(() => secrets.stop());

const version = (over: Partial<NewVersion> = {}): NewVersion => ({
  secretId: randomUUID(),
  versionId: randomUUID(),
  sealed: Buffer.from('sealed'),
  cas: null,
  mayCreate: true,
  mayUpdate: true,
  onlyIf: null,
  traceparent: null,
  ...over,
});

/** A secret with one version. */
async function created(): Promise<string> {
  const path = randomUUID();
  await secrets.call('POST', `/kv/data/${path}`, { data: { a: 1 } });
  return path;
}
const batch = (...writes: [path: string, over?: Partial<NewVersion>][]) =>
  insertVersions(
    secrets.db,
    writes.map(([path, over]) => ({ mount, path, given: version(over) })),
  );
const versionsOf = async (path: string) =>
  (
    await secrets.db.query<{ version: number }>(
      `select v.version from secrets.versions v join secrets.secrets s on s.id = v.secret_id where s.path = $1 order by 1`,
      [path],
    )
  ).map((row) => row.version);

/** The database, with the number of statements that it has executed. */
function counting(failing?: Error) {
  let statements = 0;
  const db: Db = {
    ...secrets.db,
    query: async (text, params) => {
      statements += 1;
      if (failing !== undefined) throw failing;
      return secrets.db.query(text, params);
    },
  };
  return { db, statements: () => statements };
}

describe('a batch of writes', () => {
  test('writes the next version of each secret and prunes the oldest', async () => {
    const paths = [await created(), await created()];
    for (let next = 2; next <= 5; next += 1) {
      const written = await batch(...paths.map((path): [string] => [path]));
      expect(written.map((one) => one?.version)).toEqual([next, next]);
    }
    expect(await Promise.all(paths.map(versionsOf))).toEqual([
      [3, 4, 5],
      [3, 4, 5],
    ]);
  });

  test('leaves out what it may not write, and writes the rest', async () => {
    const [path, denied, outdated, current] = [
      await created(),
      await created(),
      await created(),
      await created(),
    ];
    const written = await batch(
      [path],
      [denied, { mayUpdate: false }],
      [outdated, { cas: 0 }],
      [current, { cas: 1 }],
      ['does not exist'],
    );
    expect(written.map((one) => one?.version)).toEqual([2, undefined, undefined, 2, undefined]);
    expect(await Promise.all([denied, outdated, 'does not exist'].map(versionsOf))).toEqual([[1], [1], []]);
  });

  test('leaves out a secret of a mount that requires check-and-set, or that is elsewhere', async () => {
    await secrets.call('POST', '/sys/mounts/strict', { type: 'kv' });
    await secrets.call('POST', '/strict/data/a', { data: {} });
    await secrets.call('POST', '/strict/config', { cas_required: true });
    const [row] = await secrets.db.query<{ id: string }>(
      "select id from secrets.mounts where path = 'strict'",
    );
    const strict = { ...mount, id: row!.id, path: 'strict' };
    const path = await created();
    const written = await insertVersions(secrets.db, [
      { mount: strict, path: 'a', given: version() },
      { mount: { ...mount, path: 'moved' }, path, given: version() },
      { mount: strict, path: 'a', given: version({ cas: 1 }) },
    ]);
    expect(written.map((one) => one?.version)).toEqual([undefined, undefined, 2]);
  });

  test('does not wait for a secret that another writer has locked', async () => {
    const [locked, other] = [await created(), await created()];
    const writer = openPostgres({ url: secrets.db.url, connections: 1 });
    await writer.transaction(async (tx) => {
      await tx.query('update secrets.secrets set revision = revision + 1 where path = $1', [locked]);
      const written = await batch([locked], [other]);
      expect(written.map((one) => one?.version)).toEqual([undefined, 2]);
    });
    await writer.close();
    expect((await batch([locked]))[0]?.version).toBe(2);
  });

  test('queues an event for each secret that is watched, with the trace of its request', async () => {
    const [watched, unwatched] = [await created(), await created()];
    await secrets.db.query('update secrets.secrets set watched = true where path = $1', [watched]);
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const written = await batch([watched, { traceparent }], [unwatched, { traceparent }]);
    expect(written.map((one) => one?.watched)).toEqual([true, false]);
    const events = await secrets.db.query<{ path: string; traceparent: string }>(
      `select s.path, o.traceparent from secrets.outbox o join secrets.secrets s on s.id = o.secret_id
       where s.path = any($1)`,
      [[watched, unwatched]],
    );
    expect(events).toEqual([{ path: watched, traceparent }]);
  });
});

describe('concurrent writes', () => {
  test('take fewer statements than there are secrets, and each gets its own version', async () => {
    const paths = await Promise.all(Array.from({ length: 40 }, created));
    const { db, statements } = counting();
    const write = versionWriter(db);
    const given = paths.map(() => version());
    const written = await Promise.all(paths.map((path, at) => write(mount, path, given[at]!)));
    expect(written.map((one) => one?.version)).toEqual(paths.map(() => 2));
    expect(statements()).toBeLessThan(4);
    const rows = await secrets.db.query<{ path: string; id: string }>(
      'select s.path, v.id from secrets.versions v join secrets.secrets s on s.id = v.secret_id where v.id = any($1::uuid[])',
      [given.map(({ versionId }) => versionId)],
    );
    expect(new Map(rows.map(({ path, id }) => [path, id]))).toEqual(
      new Map(paths.map((path, at) => [path, given[at]!.versionId])),
    );
  });

  test('of one secret all get a version', async () => {
    const path = await created();
    const write = versionWriter(secrets.db);
    const written = await Promise.all(Array.from({ length: 10 }, () => write(mount, path, version())));
    expect(written.map((one) => one!.version).sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
  });

  test('are not written again if the database did not respond', async () => {
    const { db, statements } = counting(new Problem('unavailable', 'the database did not respond'));
    await expect(versionWriter(db)(mount, 'any', version())).rejects.toMatchObject({ kind: 'unavailable' });
    expect(statements()).toBe(1);
  });
});
