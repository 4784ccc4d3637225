import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../harness/eventually.ts';
import { type Api, client, send } from '../harness/http.ts';
import type { Program } from '../harness/program.ts';
import {
  copyInitialData,
  launchStandalone,
  type Place,
  readRootToken,
  temporaryPlace,
} from '../harness/standalone.ts';

let place: Place;
let program: Program;
let api: Api;

const file = () => join(place.dataDir, 'audit.log');
const linesOf = (name: string) =>
  readFileSync(name, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
/** The lines of all audit files, renamed ones included. */
const allLines = () =>
  readdirSync(place.dataDir)
    .filter((name) => name.startsWith('audit.log'))
    .flatMap((name) => linesOf(join(place.dataDir, name)));

beforeAll(async () => {
  place = await temporaryPlace();
  await copyInitialData(place);
  program = launchStandalone(place);
  await program.untilPrinted('ready ');
  api = client(place.url, readRootToken(place));
});
afterAll(async () => {
  await program.end('SIGTERM');
  rmSync(place.dataDir, { recursive: true, force: true, maxRetries: 20 });
});

test('a created token can be found by the hash of its accessor, in its creation and in its requests', async () => {
  const { auth } = (await api('POST', 'auth/token/create', { policies: ['default'] })).body;
  await client(place.url, auth.client_token)('GET', 'auth/token/lookup-self');
  const { hash } = (await api('POST', 'sys/audit-hash/file', { input: auth.accessor })).body;
  const found = allLines().filter((line) => [line.accessor, line.issued_accessor].includes(hash));
  expect(found.map(({ type, path }) => [type, path])).toEqual([
    ['response', 'auth/token/create'],
    ['request', 'auth/token/lookup-self'],
    ['response', 'auth/token/lookup-self'],
  ]);
  expect(readFileSync(file(), 'utf8')).not.toContain(auth.accessor);
});

test('a wrapped token appears as hashes of the wrapping token and of the accessor of what it wraps', async () => {
  const headers = { 'x-service-token': readRootToken(place), 'x-service-wrap-ttl': '60' };
  const url = `${place.url}/v1/auth/token/create`;
  const { request_id, wrap_info } = (await send(url, 'POST', { headers, body: {} })).body;
  const hash = async (input: string) => (await api('POST', 'sys/audit-hash/file', { input })).body.hash;
  const line = allLines().find((each) => each.request_id === request_id && each.type === 'response');
  expect(line).toMatchObject({
    status: 200,
    issued_token: await hash(wrap_info.token),
    issued_accessor: await hash(wrap_info.accessor),
    wrapped_accessor: await hash(wrap_info.wrapped_accessor),
  });
  expect(readFileSync(file(), 'utf8')).not.toContain(wrap_info.token);
});

test('rotation with SIGHUP under load loses no line: each response has exactly two', async () => {
  await api('POST', 'sys/mounts/kv', { type: 'kv' });
  const requestIds: string[] = [];
  let isRunning = true;
  const load = Array.from({ length: 8 }, async () => {
    while (isRunning) {
      const { status, body } = await api('POST', 'kv/data/a', { data: { a: 1 } });
      expect(status).toBe(200);
      requestIds.push(body.request_id);
    }
  });
  for (let round = 1; round <= 5; round++) {
    const before = requestIds.length;
    await eventually(async () => requestIds.length > before + 8, Boolean);
    renameSync(file(), `${file()}.${round}`);
    program.signal('SIGHUP');
    await eventually(async () => readdirSync(place.dataDir).includes('audit.log'), Boolean);
  }
  isRunning = false;
  await Promise.all(load);
  const types = Object.groupBy(allLines(), ({ request_id }) => request_id);
  for (const id of requestIds)
    expect(types[id]?.map(({ type }) => type).sort()).toEqual(['request', 'response']);
  expect(linesOf(`${file()}.5`).length).toBeGreaterThan(0);
});
