import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openPostgres } from '../../libs/db/src/index.ts';
import { versionAad } from '../../libs/domain/src/index.ts';
import { encrypt, parseKeyRing, sealedWith } from '../../libs/seal/src/index.ts';
import { eventually } from '../harness/eventually.ts';
import type { Api } from '../harness/http.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { Load } from './load/load.ts';
import { RetryingClient } from './load/retrying-client.ts';

/** Enough for a rotation of a few seconds. */
const older = 4_000;
const kills = 4;
const newLine = `k2:${randomBytes(32).toString('base64')}`;

const define = (suite: Suite) => {
  let db: Db;
  let api: Api;
  let mountId: string;
  const keyFile = () => join(suite.system.folder, 'seal.key');

  beforeAll(async () => {
    db = openPostgres({ url: suite.system.postgres.url, connections: 2 });
    api = new RetryingClient(suite.system).request;
    await api('POST', 'sys/mounts/old', { type: 'kv', options: { version: '2' } });
    mountId = (await api('GET', 'sys/mounts/old')).body.data.uuid;
    for (let first = 0; first < older; first += 2_000) await insertVersions(first, 2_000);
  });
  afterAll(() => db?.close());

  /** Secrets as the service would have written them with the older key. */
  async function insertVersions(first: number, count: number): Promise<void> {
    const keyRing = parseKeyRing(readFileSync(keyFile(), 'utf8'), 'the test');
    const rows = Array.from({ length: count }, (_, n) => {
      const [path, versionId] = [`s${first + n}`, randomUUID()];
      const sealed = encrypt(
        keyRing,
        versionAad({ mountId, path, versionId }),
        Buffer.from(`{"path":"${path}"}`),
      );
      return { id: randomUUID(), path, versionId, sealed };
    });
    const ids = rows.map(({ id }) => id);
    await db.query(
      `insert into secrets.secrets (id, mount_id, path, current_version)
       select id, $1, path, 1 from unnest($2::uuid[], $3::text[]) n(id, path)`,
      [mountId, ids, rows.map(({ path }) => path)],
    );
    await db.query(
      `insert into secrets.versions (secret_id, version, id, sealed, created_at)
       select id, 1, version_id, sealed, now() from unnest($1::uuid[], $2::uuid[], $3::bytea[]) n(id, version_id, sealed)`,
      [ids, rows.map(({ versionId }) => versionId), rows.map(({ sealed }) => sealed)],
    );
  }

  const holders = () =>
    Object.values(suite.system.processes).filter(({ name }) => !['sandbox', 'gateway'].includes(name));

  /** Writes the key file, and has every process read it. */
  async function writeKeys(lines: readonly string[], firstKey: string): Promise<void> {
    writeFileSync(keyFile(), `${lines.join('\n')}\n`);
    for (const process of holders()) process.signal('SIGHUP');
    await eventually(keyStatus, ({ services }) =>
      Object.values(services).every(({ current_key }) => current_key === firstKey),
    );
  }

  interface ServiceKeys {
    current_key: string;
    keys: { id: string }[];
    rotation: { checked: number; encrypted: number; finished_at: string | null } | null;
  }
  const keyStatus = async (): Promise<{ complete: boolean; services: Record<string, ServiceKeys> }> =>
    (await api('GET', 'sys/key-status')).body.data;

  async function sealedKeys(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const [table, column] of [
      ['secrets.versions', 'sealed'],
      ['sync.destinations', 'sealed_credentials'],
      ['login.wrapped_responses', 'sealed'],
      ['login.identity_keys', 'sealed_private_key'],
    ] as const) {
      const rows = await db.query<{ header: Uint8Array }>(
        `select substring(${column} from 1 for 34) as header from ${table} where ${column} is not null`,
      );
      for (const { header } of rows) counts[sealedWith(header)] = (counts[sealedWith(header)] ?? 0) + 1;
    }
    return counts;
  }

  /** A rotation ends a minute after the last process has reported that it uses the older key. */
  async function letTimePass(): Promise<void> {
    for (const schema of ['secrets', 'sync', 'login'])
      await db.query(
        `update ${schema}.seal_keys set used_at = used_at - interval '1 minute' where id <> 'k2'`,
      );
  }

  const read = async (n: number) => (await api('GET', `old/data/s${n}`)).body.data.data.path;

  test('under load, with kill -9 of secrets between pages: values stay readable, and the older key is no longer needed', async () => {
    await api('POST', 'identity/oidc/config', { issuer: 'https://secrets.example.com' });
    const oldLine = readFileSync(keyFile(), 'utf8').trim();
    await writeKeys([oldLine, newLine], 'k1');
    await writeKeys([newLine, oldLine], 'k2');
    const load = await Load.create(suite.system, { secrets: 30, rounds: 2 });
    const progress: number[] = [];
    const started = Date.now();
    await load.run(async () => {
      await api('POST', 'sys/rotate');
      for (let kill = 0; kill < kills; kill += 1) {
        const before = progress.at(-1) ?? 0;
        const status = await eventually(
          keyStatus,
          ({ services }) => (services.secrets?.rotation?.encrypted ?? 0) > before,
        );
        progress.push(status.services.secrets!.rotation!.encrypted);
        await suite.system.processes.secrets.kill();
        await suite.system.processes.secrets.start();
        expect(await read(kill * 999)).toBe(`s${kill * 999}`);
      }
    });
    await letTimePass();
    const { services } = await eventually(keyStatus, ({ complete }) => complete, 120_000);
    suite.note(
      `secrets killed after ${progress.join(', ')} of ${older} values; complete after ${Date.now() - started} ms`,
    );
    expect(progress[0]).toBeLessThan(older);
    expect(services.secrets!.keys.map(({ id }) => id)).toEqual(['k2']);
    expect(Object.keys(await sealedKeys())).toEqual(['k2']);
    expect(await read(older - 1)).toBe(`s${older - 1}`);
    suite.note(`synced after ${await load.untilSynced()} ms`);
  });

  test('without the older key, every service starts again and reads what was written with it', async () => {
    writeFileSync(keyFile(), `${newLine}\n`);
    for (const process of holders()) {
      await process.kill();
      await process.start();
    }
    expect(await read(7)).toBe('s7');
    const load = await Load.create(suite.system, { secrets: 5, rounds: 1, removed: 0 });
    await load.run();
    await load.untilSynced();
  });

  test('without the key that is needed, no service or worker starts, and each says which one is missing', async () => {
    writeFileSync(keyFile(), `k3:${randomBytes(32).toString('base64')}\n`);
    const names = ['login', 'secrets', 'sync-control-2', 'worker'] as const;
    for (const name of names) {
      const process = suite.system.processes[name];
      await process.kill();
      expect(await process.startInVain()).toContain('the seal key k2 is missing from the key file');
    }
    writeFileSync(keyFile(), `${newLine}\n`);
    for (const name of names) await suite.system.processes[name].start();
    expect(await read(8)).toBe('s8');
  });
};

await describeDistributed('rotation of the seal keys', define, { isLong: true });
