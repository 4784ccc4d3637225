import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, migrate, openCopySession, openPostgres } from '@secrets/db';
import { type ServerPair, startServerPair } from '@secrets/db/standby-testing';
import { ensureRootToken } from '@secrets/login';
import { serviceSchemas } from '@secrets/schemas';
import { readKeyRing } from '@secrets/seal';
import { recordSealKeys } from '@secrets/seal-rotation';
import { recordInstallation } from '@secrets/sync-entries';
import { eventually } from '@secrets/testing';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));
let folder: string;
let pair: ServerPair;
let db: Db;
let files: { seal: string; row: string };

function keyFile(name: string): string {
  const file = join(folder, name);
  writeFileSync(file, `k1:${randomBytes(32).toString('base64')} bound\n`, { mode: 0o600 });
  return file;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'standby-'));
  pair = await startServerPair({ folder });
  db = openPostgres({ url: pair.url });
  for (const migrations of serviceSchemas) await migrate(db, migrations);
  files = { seal: keyFile('seal.key'), row: keyFile('row.key') };
  for (const schema of ['login', 'secrets', 'sync'] as const)
    await recordSealKeys(db, schema, readKeyRing(files.seal));
  await ensureRootToken(db, { file: join(folder, 'root-token'), rowKeys: readKeyRing(files.row) });
  await recordInstallation(db, {});
});
afterAll(async () => {
  await db?.close();
  await pair?.close();
  rmSync(folder, { recursive: true });
});

/** Runs the command on the standby, and returns its log. Rejects, with the log, if the standby could not take over. */
async function check({ seal, row } = files): Promise<string> {
  const env = { DATABASE_URL: pair.standby.url('postgres'), SEAL_KEY_FILES: seal, ROW_KEY_FILE: row };
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'check-standby'], { env });
  return stdout;
}

const untilApplied = () => eventually(async () => (await check()).includes('this standby can be promoted'));

test('a standby that follows its primary can be promoted, and says how far it is behind', async () => {
  await untilApplied();
  const log = await check();
  expect(log).toMatch(/"lagSeconds":\d.*"boundRows":[1-9].*this standby can be promoted/);
  expect(log).toMatch(/its primary is connected: end that/);
  expect(log).not.toMatch(/syncing is held/);
});

const setOnStandby = async (name: string, value: string) => {
  const session = await openCopySession(pair.standby.url('postgres'), 'test');
  await session.script(`alter system set ${name} = '${value}'`);
  await session.script('select pg_reload_conf()').finally(() => session.close());
};
const refused = (reason: RegExp) =>
  eventually(() =>
    check().then(
      () => false,
      ({ stdout }) => reason.test(stdout),
    ),
  );

test('other keys are found', async () => {
  await untilApplied();
  const [seal, row] = [keyFile('other-seal.key'), keyFile('other-row.key')];
  await expect(check({ ...files, seal })).rejects.toMatchObject({
    stdout: expect.stringMatching(/the seal keys of the schema login \(k1\) are not those in/),
  });
  await expect(check({ ...files, row })).rejects.toMatchObject({
    stdout: expect.stringMatching(/rows that decide about access are not as login has written them/),
  });
});

test('settings with which the promoted standby would accept no writes are found', async () => {
  await setOnStandby('synchronous_standby_names', 'elsewhere');
  await refused(/synchronous_standby_names is elsewhere: every write waits/);
  await setOnStandby('synchronous_standby_names', '');
  await setOnStandby('default_transaction_read_only', 'on');
  await refused(/default_transaction_read_only is on/);
  await setOnStandby('default_transaction_read_only', 'off');
});

test('a standby whose sync-control was away for long says that syncing will be held, and is a primary once it is promoted', async () => {
  await db.query("update sync.installation set alive_at = alive_at - interval '16 minutes'");
  await eventually(async () => (await check()).includes('syncing is held after a promotion'));
  await pair.primary.stop('SIGKILL');
  await eventually(async () => !(await check()).includes('its primary is connected'));
  await pair.promote();
  expect(await check()).toMatch(/this server is a primary, and services can use it/);
});
