import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';
import { openEmbedded } from '@secrets/db';
import { createTestDb } from '@secrets/db/testing';
import { eventually } from '@secrets/testing';
import { openEmbeddedBroker } from './embedded-broker.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const source = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** Publishes 500 messages, acknowledges slowly and prints each, until it is killed. */
const program = `
  import { openEmbedded } from '@secrets/db';
  import { openEmbeddedBroker } from ${source('./embedded-broker.ts')};
  const log = { info() {}, warn() {}, error() {} };
  const broker = await openEmbeddedBroker(await openEmbedded({ folder: process.argv[1] }), { log });
  await broker.publish('q', Array.from({ length: 500 }, (_, n) => n));
  await broker.consume('q', { concurrency: 3 }, async (n) => {
    console.log(n);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return 'ack';
  });
`;

describe('embedded broker and its database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'broker-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('delivers everything that was not acknowledged again after kill -9', async () => {
    const dataDir = join(folder, 'db');
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program, dataDir], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const before: number[] = [];
    for await (const line of createInterface(child.stdout)) {
      before.push(Number(line));
      if (before.length === 200) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');

    const db = await openEmbedded({ folder: dataDir });
    const broker = await openEmbeddedBroker(db, { log: silent });
    const left = (await broker.depth('q')).ready;
    expect(left).toBeGreaterThanOrEqual(500 - before.length);
    expect(left).toBeLessThan(500);
    const after: unknown[] = [];
    await broker.consume('q', { concurrency: 10 }, async (message) => {
      after.push(message);
      return 'ack';
    });
    await eventually(() => expect(new Set([...before, ...after]).size).toBe(500));
    expect(after).toHaveLength(left);
    await broker.close();
    await db.close();
  });

  test('refuses a publication inside a transaction, instead of hanging', async () => {
    const db = await createTestDb();
    const broker = await openEmbeddedBroker(db, { log: silent });
    await expect(db.transaction(() => broker.publish('q', ['x']))).rejects.toThrow(/only its own handle/);
    await broker.close();
    await db.close();
  });

  test('stores verdicts later when the database refuses them at first', async () => {
    const db = await createTestDb();
    const errors: string[] = [];
    const log = { ...silent, error: (_: object, message: string) => errors.push(message) };
    const broker = await openEmbeddedBroker(db, { log });
    await db.query(
      'create function broker.refuse() returns trigger language plpgsql as $$ begin raise exception $m$no$m$; end $$',
    );
    await db.query('create trigger refuse before delete on broker.messages execute function broker.refuse()');
    await broker.publish('q', [1, 2, 3]);
    await broker.consume('q', { concurrency: 3 }, async () => 'ack');
    await eventually(() => expect(errors).toContain('verdicts could not be stored; retrying'));
    await db.query('drop trigger refuse on broker.messages');
    await eventually(async () => expect(await db.query('select id from broker.messages')).toEqual([]));
    await broker.close();
    await db.close();
  });
});
