import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openPostgres } from '../../../libs/db/src/index.ts';
import { syncQueue } from '../../../libs/domain/src/index.ts';
import type { Distributed } from '../../harness/distributed.ts';
import { eventually } from '../../harness/eventually.ts';
import { client, expectStatus } from '../../harness/http.ts';
import { descriptions } from '../../harness/processes.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import type { Suite } from '../describe-distributed.ts';
import { withBroker } from '../servers/with-broker.ts';

/** Random, because the arguments of all processes of the machine are searched for it. */
const canary = `canary-${randomBytes(4).toString('hex')}`;
/** The canary in plain text, in hex (as in a dump of bytes), and in base64. */
const spellings = [
  canary,
  Buffer.from(canary).toString('hex'),
  Buffer.from(canary).toString('base64').slice(2, 20),
];
const queue = syncQueue('cloudA-sm');

export function secretValue(suite: Suite): void {
  test('appears in no table, message, log, audit line or argument list', async () => {
    const { system, sandbox } = suite;
    const api = client(system.url, system.rootToken);
    const at = await SyncFixture.create({ api, sandbox });
    await at.sync('a', { value: canary });
    expectStatus(await api('PATCH', 'sys/sync/config', { disabled: true }), 200);
    await withBroker(system, (broker) =>
      eventually(
        () => broker.depth(queue),
        ({ consumers }) => consumers === 0,
      ),
    );
    expectStatus(await at.write('a', { value: `${canary} again` }), 200);

    expect(await at.value('a')).toContain(canary);
    const searched = {
      messages: await waitingMessages(system),
      tables: await everyRow(system.postgres.url),
      logs: filesOf(system.folder),
      arguments: descriptions().join('\n'),
    };
    expect(searched.messages).toContain('entry_id');
    expect(searched.tables).toContain('PENDING');
    expect(searched.logs).toContain('ready');
    expect(searched.arguments).toContain('services/gateway/src/main.');
    for (const [where, text] of Object.entries(searched)) {
      const found = spellings.filter((spelling) => text.includes(spelling));
      expect({ where, found }).toEqual({ where, found: [] });
    }
    expectStatus(await api('PATCH', 'sys/sync/config', { disabled: false }), 200);
  });
}

/** Every row of every table, as Postgres prints it. */
async function everyRow(url: string): Promise<string> {
  const db = openPostgres({ url, connections: 1 });
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_schema in ('login', 'secrets', 'sync') and table_type = 'BASE TABLE'`,
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await db.query<{ row: string }>(`select t::text as row from ${name} t`);
    rows.push(...found.map(({ row }) => row));
  }
  await db.close();
  return rows.join('\n');
}

/** The messages in the queue of the workers, which have stopped consuming. Puts them back. */
function waitingMessages(system: Distributed): Promise<string> {
  return withBroker(system, async (broker) => {
    const { ready } = await eventually(
      () => broker.depth(queue),
      (depth) => depth.ready > 0,
    );
    const messages: unknown[] = [];
    const consumer = await broker.consume(queue, { concurrency: 4 }, async (message) => {
      messages.push(message);
      return 'requeue';
    });
    await eventually(
      async () => messages.length,
      (length) => length >= ready,
    );
    await consumer.stop();
    return JSON.stringify(messages);
  });
}

/** The logs of all processes and the audit file, without the data of the sandbox. */
const filesOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('sandbox'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
