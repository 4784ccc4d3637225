import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { migrate, openPostgres } from '@secrets/db';
import { databaseOf, testServerUrl } from '@secrets/db/testing';
import { serviceSchemas } from '@secrets/schemas';
import { freePorts } from '../../../scripts/free-ports.ts';
import { eventuallyEqual } from '../../harness/eventually.ts';
import { bundleEnv, mainOf, Program } from '../../harness/program.ts';
import { isLongRun } from '../../harness/run-size.ts';

const services = ['login', 'secrets', 'sync-control'] as const;
type Name = (typeof services)[number];

const role = `late_${randomBytes(4).toString('hex')}`;
const password = randomBytes(8).toString('hex');
let folder: string;
let ports: number[];
let programs: Program[];
let proxy: Server | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'late-'));
  const key = (name: string, prefix: string) =>
    writeFileSync(join(folder, name), `${prefix}${randomBytes(32).toString('base64')}\n`);
  key('seal.key', 'k1:');
  key('other.key', 'k1:');
  key('internal.key', '');
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(async () => {
  programs = [];
  ports = await freePorts(5);
});
afterEach(async () => {
  for (const program of programs) await program.discard();
  proxy?.close();
  await onServer(`drop database if exists ${role} with (force)`);
  await onServer(`drop role if exists ${role}`);
});

const onServer = async (statement: string) => {
  const db = openPostgres({ url: testServerUrl(), connections: 1, statementTimeoutMs: 60_000 });
  await db.query(statement).finally(db.close);
};

function start(name: Name, env: Record<string, string> = {}): Program {
  const program = new Program(process.execPath, {
    args: [mainOf(name)],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: join(tmpdir(), 'late-compile-cache'),
      ...bundleEnv,
      DATABASE_URL: `postgres://${role}:${password}@127.0.0.1:${ports[3]}/${role}`,
      AMQP_URL: `amqp://127.0.0.1:${ports[4]}`, // nothing listens there
      SECRETS_URL: 'http://127.0.0.1:1',
      SEAL_KEY_FILE: join(folder, 'seal.key'),
      INTERNAL_KEY_FILE: join(folder, 'internal.key'),
      ROOT_TOKEN_FILE: join(folder, 'root-token'),
      PORT: String(ports[services.indexOf(name)]),
      DRAIN_SECONDS: '0',
      ...env,
    },
  });
  programs.push(program);
  return program;
}

/** Returns the response of each service at a path: the status and what is missing, or `none` without a response. */
const answers = (path: string) =>
  Promise.all(
    services.map(async (_name, index) => {
      const response = await fetch(`http://127.0.0.1:${ports[index]}${path}`).catch(() => undefined);
      if (response === undefined) return 'none';
      const { missing } = (await response.json()) as { missing?: string[] };
      return [response.status, ...(missing ?? [])].join(' ');
    }),
  );
const ofAll = (answer: string) => services.map(() => answer);

/** Makes the database server reachable at the address that the services have. */
async function openAddress(): Promise<void> {
  const { hostname, port } = new URL(testServerUrl());
  proxy = createServer((near) => {
    const far = connect(Number(port || 5432), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to);
  });
  proxy.listen(ports[3], '127.0.0.1');
  await once(proxy, 'listening');
}

async function prepareDatabase(): Promise<void> {
  const db = openPostgres({ url: databaseOf(testServerUrl(), role), connections: 1 });
  for (const migrations of serviceSchemas) await migrate(db, migrations);
  await db.close();
  await onServer(`alter role ${role} superuser`);
}

const printed = (text: string) => programs.map((program) => program.printed.split(text).length - 1);

test('services wait for the database, its role, its password, itself, and its schemas', async () => {
  for (const name of services) start(name);
  const areWaiting = async () => {
    await eventuallyEqual(() => answers('/readyz'), ofAll('503 database'));
    expect(await answers('/livez')).toEqual(ofAll('200'));
    expect(await fetch(`http://127.0.0.1:${ports[0]}/v1/sys/auth`).catch(() => 'closed')).toBe('closed');
  };
  await areWaiting();
  for (const { printed: log } of programs) expect(log).toContain('ECONNREFUSED');
  const steps: (() => Promise<unknown>)[] = [
    openAddress,
    () => onServer(`create role ${role} login password 'another'`),
    () => onServer(`alter role ${role} password '${password}'`),
    () => onServer(`create database ${role} template template0`),
  ];
  for (const [number, step] of steps.entries()) {
    await step();
    if (!isLongRun && number < steps.length - 1) continue; // the last step meets what is missing
    await new Promise((resolve) => setTimeout(resolve, 3_500)); // more than the longest pause
    await areWaiting();
  }
  await prepareDatabase();
  const preparedAt = performance.now();
  await eventuallyEqual(() => answers('/readyz?traffic'), ofAll('200'));
  expect(performance.now() - preparedAt).toBeLessThan(10_000);
  expect((await answers('/readyz'))[2]).toBe('503 broker'); // nor is RabbitMQ needed to start
  expect([printed('waiting for'), printed('is there'), printed('"fatal"')]).toEqual([
    [1, 1, 1],
    [1, 1, 1],
    [0, 0, 0],
  ]);
  for (const program of programs) expect(await program.end('SIGTERM')).toMatchObject({ code: 0 });
});

test('a service that waits stops on SIGTERM, and one that cannot be configured ends', async () => {
  const waiting = start('login');
  await waiting.untilPrinted('waiting for');
  const { code, milliseconds } = await waiting.end('SIGTERM');
  expect([code, milliseconds < 6_000]).toEqual([0, true]);
  await openAddress();
  await onServer(`create role ${role} login password '${password}'`);
  await onServer(`create database ${role} template template0`);
  await prepareDatabase();
  const first = start('login');
  await first.untilPrinted('"ready"');
  await first.end('SIGTERM');
  const wrongKey = start('login', { SEAL_KEY_FILE: join(folder, 'other.key') });
  expect(await wrongKey.ended()).toBe(1);
  expect(wrongKey.printed).toContain('the seal key k1 in the key file is not the one');
  expect(await start('secrets', { PORT: 'none' }).ended()).toBe(1);
});
