import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openRabbit } from '../../libs/broker/src/index.ts';
import { openPostgres } from '../../libs/db/src/index.ts';
import { syncQueue } from '../../libs/domain/src/index.ts';
import { client, send } from '../../scripts/demo/http.ts';
import { type Distributed, ownServers, startDistributed } from './distributed.ts';

/** Drawn anew, since the arguments of every process of the machine are searched for it. */
const canary = `kanarienvogel-${randomBytes(4).toString('hex')}`;
/** The canary as it may stand somewhere: as it is, in hex (a dump of bytes), in base64. */
const spellings = [
  canary,
  Buffer.from(canary).toString('hex'),
  Buffer.from(canary).toString('base64').slice(2, 22),
];

const servers = await ownServers();
if (typeof servers === 'string') console.warn(`not run: the canary in the distributed system: ${servers}`);

let system: Distributed;
beforeAll(async () => {
  if (typeof servers !== 'string') system = await startDistributed(servers);
});
afterAll(() => system?.stop());

(typeof servers === 'string' ? describe.skip : describe)('a planted value', () => {
  test('is in no table, message, log, audit line or argument list', async () => {
    const api = client(system.url, system.rootToken);
    const keys = (await send(`${system.sandboxUrl}/_sandbox/about`, 'GET')).body.stores['cloudA-sm']
      .credentials;
    const destination = 'sys/sync/destinations/cloudA-sm/canary';
    await api('POST', 'sys/mounts/canary', { type: 'kv' });
    await api('POST', destination, {
      access_key_id: keys.accessKeyId,
      secret_access_key: keys.secretAccessKey,
      region: 'eu-west-1',
    });
    await api('POST', 'canary/data/a', { data: { value: canary } });
    const set = () => api('POST', `${destination}/associations/set`, { mount: 'canary', secret_name: 'a' });
    expect(Object.values((await set()).body.data.associated_secrets)).toMatchObject([
      { sync_status: 'SYNCED' },
    ]);
    await api('PATCH', 'sys/sync/config', { disabled: true });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await api('POST', 'canary/data/a', { data: { value: `${canary} again` } });

    const outside = await send(`${system.sandboxUrl}/_sandbox/stores`, 'GET');
    expect(JSON.stringify(outside.body)).toContain(canary); // it was really there to be found
    const looked = {
      messages: await waitingMessages(system.rabbit.url),
      tables: await everyRow(system.postgres.url),
      logs: filesOf(system.folder),
      arguments: argumentLists(),
    };
    expect(looked.messages).toContain('entry_id');
    expect(looked.tables).toContain('PENDING');
    for (const [where, text] of Object.entries(looked)) {
      const found = spellings.filter((spelling) => text.includes(spelling));
      expect({ where, found }).toEqual({ where, found: [] });
    }
  });
});

/** Every row of every table, as Postgres prints it. */
async function everyRow(url: string): Promise<string> {
  const db = openPostgres({ url, connections: 1 });
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_schema in ('login', 'secrets', 'sync') and table_type = 'BASE TABLE'`,
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    rows.push(
      ...(await db.query<{ row: string }>(`select t::text as row from ${name} t`)).map(({ row }) => row),
    );
  }
  await db.close();
  return rows.join('\n');
}

/** What waits in the workers' queue, or will soon, looked at and given back. */
async function waitingMessages(url: string): Promise<string> {
  const seen: unknown[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const broker = openRabbit({ url, log });
  const consumer = await broker.consume(syncQueue('cloudA-sm'), { concurrency: 4 }, async (message) => {
    seen.push(message);
    return 'requeue';
  });
  while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await consumer.stop();
  await broker.close();
  return JSON.stringify(seen);
}

/** Logs of all processes and the audit; what the sandbox keeps is not among them. */
const filesOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('sandbox'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');

const argumentLists = (): string =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((id) => {
      try {
        return readFileSync(`/proc/${id}/cmdline`, 'latin1') + readFileSync(`/proc/${id}/environ`, 'latin1');
      } catch {
        return ''; // ended meanwhile
      }
    })
    .join('\n');
