import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, eventuallyEqual } from '../../harness/eventually.ts';
import { client, expectStatus } from '../../harness/http.ts';
import { processesOf } from '../../harness/processes.ts';
import { Program } from '../../harness/program.ts';
import { isLongRun, longTest } from '../../harness/run-size.ts';
import { sandboxControl } from '../../harness/sandbox-control.ts';
import {
  copyInitialData,
  launchStandalone,
  type Place,
  readRootToken,
  temporaryPlace,
} from '../../harness/standalone.ts';

const maxKills = 5;
/** Without it, npm keeps what it compiles in the temporary folder. */
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url));
const folders: string[] = [];
const programs: Program[] = [];
afterEach(async () => {
  for (const program of programs.splice(0)) await program.discard();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

async function place(): Promise<Place> {
  const one = await temporaryPlace();
  folders.push(one.dataDir);
  return one;
}

/** Starts a program that is killed when the test fails before it ends. */
function started(program: Program): Program {
  programs.push(program);
  return program;
}

/**
 * Starts an npm script as a user's shell does. `npm test` puts the scripts of node_modules/.bin first on the path; there,
 * `node` is a shell script that does not pass on signals.
 */
function npm(args: string[], env: NodeJS.ProcessEnv): Program {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return started(new Program('npm', { args, env: { ...env, PATH: path.join(delimiter) }, ownGroup: true }));
}

function isListening(url: string): Promise<boolean> {
  const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}

async function expectNothingLeft({ dataDir, url, sandboxUrl }: Place): Promise<void> {
  expect(processesOf(dataDir)).toEqual([]);
  expect([await isListening(url), await isListening(sandboxUrl)]).toEqual([false, false]);
  expect(readdirSync(dataDir).sort()).toEqual([
    'audit.log',
    'internal.key',
    'postgres',
    'root-token',
    'row.key',
    'sandbox.jsonl',
    'seal.key',
  ]);
  expect(readdirSync(join(dataDir, 'postgres')).sort()).toEqual(['data', 'password']);
}

describe('npm start', () => {
  const signals = [
    { name: 'SIGTERM to npm', signal: 'SIGTERM', target: 'process' },
    { name: 'Ctrl-C, which signals npm and the service', signal: 'SIGINT', target: 'group' },
  ] as const;

  test('stops in order on SIGTERM to npm, and after another start on Ctrl-C: exit code 0, and no process or port is left', async () => {
    const at = await place();
    for (const { name, signal, target } of signals) {
      const service = npm(['start'], at.env);
      await service.untilPrinted('ready ');
      expect(processesOf(at.dataDir).join('\n')).toMatch(/postgres/);
      expect([await isListening(at.url), await isListening(at.sandboxUrl)]).toEqual([true, true]);
      // The exit code of a service whose stop times out is 1: 0 says that it ended in time.
      expect({ name, ...(await service.end(signal, target)) }).toMatchObject({ name, code: 0, signal: null });
      await expectNothingLeft(at);
    }
  });
});

describe('after kill -9, the next start loses nothing and leaves nothing behind', () => {
  const postgres = ({ dataDir }: Place, ...names: string[]) => join(dataDir, 'postgres', ...names);
  const states: [string, (at: Place) => boolean][] = [
    [
      'while it creates the database',
      (at) =>
        existsSync(postgres(at)) && readdirSync(postgres(at)).some((name) => name.startsWith('data.new-')),
    ],
    ['while it starts the database', (at) => existsSync(postgres(at, 'data', 'postmaster.pid'))],
    ['while it creates its keys', ({ dataDir }) => existsSync(join(dataDir, 'seal.key'))],
    ['while it creates its root token', ({ dataDir }) => existsSync(join(dataDir, 'root-token'))],
  ];

  longTest.each(states)('%s', async (_state, isReached) => {
    for (let kills = 1; kills <= maxKills; kills += 1) {
      const at = await place();
      const first = started(launchStandalone(at));
      await eventually(async () => isReached(at), Boolean);
      await first.end('SIGKILL');
      const keys = keysOf(at);
      await startsAndStops(at);
      expect(keysOf(at)).toMatchObject(keys);
      if (!first.printed.includes('ready ')) return;
    }
    throw new Error(`the state was over each of ${maxKills} times that the service was killed`);
  });

  test('while it writes: every acknowledged write is there, and the sync continues', async () => {
    const at = await place();
    await copyInitialData(at);
    const first = started(launchStandalone(at));
    await first.untilPrinted('ready ');
    const keys = keysOf(at);
    const acknowledged = await writeUntil(at, 40, () => first.end('SIGKILL'));
    const second = started(launchStandalone(at));
    await second.untilPrinted('ready ');
    expect(keysOf(at)).toEqual(keys);
    const api = client(at.url, readRootToken(at));
    for (const [name, value] of acknowledged)
      expect(expectStatus(await api('GET', `kv/data/${name}`), 200).body.data.data).toEqual({ value });
    const external = async () =>
      Object.values(await sandboxControl(at.sandboxUrl).secrets()).map(({ value }) => value);
    await eventuallyEqual(external, [JSON.stringify({ value: acknowledged.get('s0') })]);
    const status = async () => (await api('GET', 'sys/sync/associations/kv/s0')).body;
    await eventuallyEqual(
      async () => (await status()).data.associated_destinations['cloudA-sm/d'].sync_status,
      'SYNCED',
    );
    expect(await second.end('SIGTERM')).toMatchObject({ code: 0 });
    await expectNothingLeft(at);
  });

  /** The keys and the token that exist. */
  const keysOf = ({ dataDir }: Place): Record<string, string> =>
    Object.fromEntries(
      ['seal.key', 'internal.key', 'root-token']
        .filter((name) => existsSync(join(dataDir, name)))
        .map((name) => [name, readFileSync(join(dataDir, name), 'utf8')]),
    );

  async function startsAndStops(at: Place): Promise<void> {
    const program = started(launchStandalone(at));
    await program.untilPrinted('ready ');
    const api = client(at.url, readRootToken(at));
    expectStatus(await api('POST', 'sys/mounts/kv', { type: 'kv' }), 204);
    expectStatus(await api('POST', 'kv/data/a', { data: { n: 1 } }), 200);
    expect(await sandboxControl(at.sandboxUrl).secrets()).toEqual({});
    expect(await program.end('SIGTERM')).toMatchObject({ code: 0 });
    await expectNothingLeft(at);
  }

  /** Writes without a pause, calls `end` after this many writes, and returns the last acknowledged value of each secret. */
  async function writeUntil(
    at: Place,
    writes: number,
    end: () => Promise<unknown>,
  ): Promise<Map<string, number>> {
    const api = client(at.url, readRootToken(at));
    expectStatus(await api('POST', 'sys/mounts/kv', { type: 'kv' }), 204);
    const fields = { ...(await sandboxControl(at.sandboxUrl).credentials()), region: 'eu-west-1' };
    expectStatus(await api('POST', 'sys/sync/destinations/cloudA-sm/d', fields), 200);
    expectStatus(await api('POST', 'kv/data/s0', { data: { value: 0 } }), 200);
    const association = { mount: 'kv', secret_name: 's0' };
    expectStatus(await api('POST', 'sys/sync/destinations/cloudA-sm/d/associations/set', association), 200);
    const acknowledged = new Map([['s0', 0]]);
    let ending: Promise<unknown> | undefined;
    for (let value = 1; ; value += 1) {
      if (value === writes) ending = end();
      const name = `s${value % 4}`;
      const answer = await api('POST', `kv/data/${name}`, { data: { value } }).catch(() => undefined);
      if (answer === undefined) break;
      expectStatus(answer, 200);
      acknowledged.set(name, value);
    }
    await ending;
    return acknowledged;
  }
});

describe('npm run demo', () => {
  /** It creates its temporary files in `folder`. */
  const npmRunDemo = (folder: string) =>
    npm(['run', 'demo'], {
      ...process.env,
      TMPDIR: folder,
      NODE_COMPILE_CACHE: compileCache,
    });
  const temporaryFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-test-'));
    folders.push(folder);
    return folder;
  };

  longTest('exits with 0, and leaves no process or file behind', async () => {
    const folder = temporaryFolder();
    const demo = npmRunDemo(folder);
    expect(await demo.ended()).toBe(0);
    expect(demo.printed).toContain('demo: passed');
    expect([processesOf(folder), readdirSync(folder)]).toEqual([[], []]);
  });

  const isStartingDatabase = (folder: string) =>
    processesOf(folder).some((one) => one.includes('postgres -D'));
  const hasPrinted = (text: string) => (_folder: string, demo: Program) => demo.printed.includes(text);

  const interruptions = [
    ['Ctrl-C in the middle', hasPrinted(' 4. '), 'SIGINT', 'group', 130],
    ['Ctrl-C while the service starts', isStartingDatabase, 'SIGINT', 'group', 130],
    ['SIGINT to npm alone', hasPrinted(' 6. '), 'SIGINT', 'process', 130],
    ['SIGTERM to npm', hasPrinted(' 6. '), 'SIGTERM', 'process', 143],
  ] as const;
  test.each(isLongRun ? interruptions : interruptions.slice(0, 1))(
    '%s leaves no process or file behind; the exit code is that of the signal',
    async (...row) => {
      const [, isReached, signal, target, code] = row;
      const folder = temporaryFolder();
      const demo = npmRunDemo(folder);
      await demo.until(async () => isReached(folder, demo), 'reached the state');
      expect(await demo.end(signal, target)).toMatchObject({ code });
      await eventuallyEqual(async () => [...processesOf(folder), ...readdirSync(folder)], []);
      expect(demo.printed).toContain('demo: interrupted');
    },
  );
});
