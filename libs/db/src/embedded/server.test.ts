import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { isLongRun } from '../../../../tests/harness/run-size.ts';
import { openPostgres } from '../connections/open-postgres.ts';
import { findBinaries } from './binaries.ts';
import { openEmbedded } from './open-embedded.ts';
import { readPidFile } from './pid-file.ts';
import { commandLine, isAlive } from './process-identity.ts';
import { startEmbeddedServer } from './server.ts';

const root = mkdtempSync(join(tmpdir(), 'embedded-'));
chmodSync(root, 0o700); // as the home folder of root, which no other user can enter
afterAll(() => rmSync(root, { recursive: true }));
const freshFolder = () => join(mkdtempSync(join(root, 'server-')), 'postgres');
const created = join(root, 'created', 'postgres');
/** A folder with a new database, which need not be created again for each test. */
function folderWithDatabase(folder = freshFolder()): string {
  execFileSync('cp', ['-Rp', created, folder]);
  return folder;
}
beforeAll(async () => {
  mkdirSync(dirname(created));
  await (await openEmbedded({ folder: created })).close();
});
const clusterOf = (folder: string) => join(folder, 'data');
const pidOf = (folder: string) => readPidFile(clusterOf(folder))?.pid;

/** A process that opens the database of a folder, writes until it is killed, and prints what was committed. */
function startWriter(folder: string): ChildProcess {
  const program = `
    import { openEmbedded } from ${JSON.stringify(new URL('./open-embedded.ts', import.meta.url).href)};
    console.log('starting');
    const db = await openEmbedded({ folder: process.argv[1] });
    await db.query('create table if not exists written (n int primary key)');
    const [{ last }] = await db.query('select coalesce(max(n), 0) as last from written');
    for (let n = last + 1; ; n += 1) {
      await db.query('insert into written values ($1)', [n]);
      console.log(n);
    }`;
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Kills a process with SIGKILL after a number of lines and a delay; resolves with the last line it printed. */
async function killAfter(child: ChildProcess, lines: number, delayMs = 0): Promise<string> {
  let last = '';
  let count = 0;
  for await (const line of createInterface(child.stdout!)) {
    last = line;
    count += 1;
    if (count === lines) setTimeout(() => child.kill('SIGKILL'), delayMs);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return last;
}

describe('an embedded server', () => {
  test('keeps its data in a folder of mode 0700, and leaves no process or lock behind when it is closed', async () => {
    const folder = freshFolder();
    const first = await openEmbedded({ folder });
    await first.query('create table kept as select 1 as n');
    const pid = pidOf(folder)!;
    expect(isAlive(pid)).toBe(true);
    await first.close();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(`${folder}.lock`)).toBe(false);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(clusterOf(folder)).mode & 0o777).toBe(0o700);
    const second = await openEmbedded({ folder });
    expect(await second.query('select n from kept')).toEqual([{ n: 1 }]);
    expect(await second.query('show fsync')).toEqual([{ fsync: 'on' }]);
    await second.close();
  });

  describe('if this process is root', () => {
    const asRoot = process.getuid?.() === 0 ? test : test.skip;

    asRoot('runs as another user, without groups, who may search folders and nothing else', async () => {
      const folder = folderWithDatabase();
      const db = await openEmbedded({ folder });
      const status = readFileSync(`/proc/${pidOf(folder)}/status`, 'utf8');
      const field = (name: string) => new RegExp(`^${name}:[\\t ]*(.*?)[\\t ]*$`, 'm').exec(status)?.[1];
      const ids = '65534\t65534\t65534\t65534';
      expect([field('Uid'), field('Gid'), field('Groups'), field('NoNewPrivs')]).toEqual([ids, ids, '', '1']);
      const [mayOverride, maySearch] = [1n << 1n, 1n << 2n];
      for (const set of ['CapEff', 'CapPrm', 'CapInh', 'CapAmb'])
        expect([mayOverride, maySearch]).toContain(BigInt(`0x${field(set)}`));
      expect(readFileSync(`/proc/${pidOf(folder)}/environ`, 'utf8')).not.toContain('HOME=');
      await db.close();
    });

    asRoot("has a folder that this user's other processes cannot enter", async () => {
      const folder = folderWithDatabase();
      for (let path = folder; path !== tmpdir(); path = dirname(path)) chmodSync(path, 0o755);
      const db = await openEmbedded({ folder });
      const read = (file: string) =>
        spawnSync('cat', [join(folder, file)], { uid: 65_534, gid: 65_534, encoding: 'utf8' });
      for (const file of ['data/PG_VERSION', 'password'])
        expect(read(file)).toMatchObject({
          stdout: '',
          stderr: expect.stringContaining('Permission denied'),
        });
      await db.close();
      chmodSync(root, 0o700);
    });
  });

  test('is refused to a second process', async () => {
    const folder = folderWithDatabase();
    const db = await openEmbedded({ folder });
    await expect(openEmbedded({ folder })).rejects.toThrow(/in use by another process/);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    await db.close();
  });

  test('is started again when it ends unexpectedly', async () => {
    const folder = folderWithDatabase();
    const db = await openEmbedded({ folder });
    await db.query('create table kept as select 1 as n');
    process.kill(pidOf(folder)!, 'SIGKILL');
    await eventually(async () => (await db.query('select n from kept')).length === 1);
    await db.close();
  });

  test('leaves nothing behind when it is closed while it is being started again', async () => {
    const folder = folderWithDatabase();
    let closing: Promise<void> | undefined;
    const server = await startEmbeddedServer({
      folder,
      onLog: (line) => {
        // The new server is launched right after this line.
        if (line.includes('ended unexpectedly')) setImmediate(() => (closing = server.close()));
      },
    });
    process.kill(pidOf(folder)!, 'SIGKILL');
    await eventually(() => expect(closing).toBeDefined());
    await closing;
    expect(existsSync(`${folder}.lock`)).toBe(false);
    // The children of the server that was killed end by themselves, as soon as they notice.
    await eventually(() => {
      const processes = readdirSync('/proc').filter((name) => commandLine(Number(name)).includes(folder));
      expect(processes).toEqual([]);
    });
  });

  test('says that it was asked to stop with the lines about the connections that it ends', async () => {
    const lines: { line: string; isStopping: boolean }[] = [];
    const server = await startEmbeddedServer({
      folder: folderWithDatabase(),
      onLog: (line, isStopping) => void lines.push({ line, isStopping }),
    });
    const db = openPostgres({ url: server.url('postgres') });
    await db.query('select 1');
    await server.close();
    await db.close();
    const fatal = lines.filter(({ line }) => line.includes('FATAL:'));
    expect(fatal.map(({ isStopping }) => isStopping)).toEqual(fatal.map(() => true));
    expect(fatal).not.toEqual([]);
    expect(lines[0]).toMatchObject({ isStopping: false });
  });

  test('listens on a loopback port with a password if one is requested', async () => {
    const folder = folderWithDatabase();
    const server = await startEmbeddedServer({ folder, port: 20_000 + (process.pid % 10_000) });
    const db = openPostgres({ url: server.url('postgres') });
    expect(await db.query('show listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    await db.close();
    const wrong = openPostgres({ url: server.url('postgres').replace(/:[^:@]+@/, ':wrong@') });
    await expect(wrong.query('select 1')).rejects.toThrow(/password authentication failed/);
    await wrong.close();
    await server.close();
  });

  test('listens on a loopback port if the path of its folder is too long for a socket', async () => {
    const parent = freshFolder();
    mkdirSync(parent);
    const folder = folderWithDatabase(join(parent, 'long'.repeat(30)));
    const db = await openEmbedded({ folder });
    expect(await db.query('show listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    await db.close();
  });
});

/** Times that a process is killed before the last start. */
const rounds = isLongRun ? 3 : 1;

describe('after kill -9 of the process that started it', () => {
  const states: [string, number, number][] = [
    ['while the database is created', 1, 150],
    ['while it starts', 1, 700],
    ['while it writes', 40, 3],
  ];

  test.each(states)(
    '%s: the next start loses nothing and leaves nothing behind',
    async (_, lines, delayMs) => {
      const folder = freshFolder();
      let committed = 0;
      const seen = new Set<number>();
      for (let round = 0; round < rounds; round += 1) {
        committed = Math.max(committed, Number(await killAfter(startWriter(folder), lines, delayMs)) || 0);
        const pid = pidOf(folder);
        if (pid !== undefined) seen.add(pid);
      }
      const db = await openEmbedded({ folder });
      const [row] = await db.query<{ last: number }>(
        `select case when to_regclass('written') is null then 0 else
         (xpath('/row/n/text()', query_to_xml('select coalesce(max(n), 0) as n from written', false, true, '')))[1]::text::int end as last`,
      );
      expect(row!.last).toBeGreaterThanOrEqual(committed);
      const current = pidOf(folder);
      for (const pid of seen) if (pid !== current) expect(commandLine(pid)).not.toContain(folder);
      await db.close();
      expect(readdirSync(folder).sort()).toEqual(['data', 'password']);
    },
  );

  test('a server that is left behind is ended, and a process that only has its pid is not', async () => {
    const folder = folderWithDatabase();
    const db = await openEmbedded({ folder });
    await db.close();
    const other = spawn('sleep', ['60']);
    writeFileSync(
      join(clusterOf(folder), 'postmaster.pid'),
      `${other.pid}\n${clusterOf(folder)}\n0\n5432\n\n\n0 0\nready\n`,
    );
    const again = await openEmbedded({ folder });
    expect(other.exitCode).toBeNull();
    expect(other.signalCode).toBeNull();
    await again.close();
    other.kill();
  });
});

describe('a start that is impossible', () => {
  test('an error on a platform without binaries recommends DATABASE_URL', async () => {
    await expect(findBinaries('sunos', 'x64')).rejects.toThrow(/not available for sunos x64.*DATABASE_URL/s);
  });

  test('data of another major version is named, with what to do', async () => {
    const folder = freshFolder();
    mkdirSync(clusterOf(folder), { recursive: true });
    writeFileSync(join(clusterOf(folder), 'PG_VERSION'), '17\n');
    await expect(openEmbedded({ folder })).rejects.toThrow(
      /created by PostgreSQL 17.*dump it.*DATABASE_URL/s,
    );
  });

  test('a folder that cannot be created is named', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    await expect(openEmbedded({ folder: join(file, 'postgres') })).rejects.toThrow(/file/);
  });
});
