import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { embeddedUrl } from '../../../services/setup/src/database/embedded-database.ts';
import { OlderData } from '../../compose/older-data.ts';
import { sandboxTypes } from '../../harness/destination-types.ts';
import { Program } from '../../harness/program.ts';
import { type Place, readRootToken, temporaryPlace } from '../../harness/standalone.ts';
import type { OlderSource } from './older-source.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Where a version of the service is, and the Node that runs it. */
interface Version {
  folder: string;
  node: string;
}

const thisVersion: Version = { folder: root, node: process.execPath };

type Step = (what: string) => void;

/**
 * Starts standalone in the older version, writes data of every kind, stops it, and starts this version on the same data. Then
 * everything must be there and work. If the older version makes backups, one of it must be restorable here.
 * @throws with what is wrong
 */
export async function upgradeInPlace(older: OlderSource, step: Step): Promise<void> {
  const place = await temporaryPlace();
  try {
    const before = await start(older, place);
    const rootToken = readRootToken(place);
    const data = new OlderData({ ...place, rootToken }, sandboxTypes);
    await data.write().catch(async (error: unknown) => {
      await before.discard();
      throw error;
    });
    step(`${older.revision} has written data of every kind`);
    const archive = older.has('services/setup/src/backup') ? await backUp(older, place) : undefined;
    await stop(before);
    step(`${older.revision} has stopped`);
    if (archive !== undefined) {
      await setup(thisVersion, ['verify-backup'], place, archive);
      step('a backup of it can be restored by this version');
    }
    await useHere(place, rootToken, { data, step });
    step('this version has started on it, everything is there and works, and all stores have converged');
  } finally {
    rmSync(place.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
}

async function useHere(
  place: Place,
  rootToken: string,
  { data, step }: { data: OlderData; step: Step },
): Promise<void> {
  const after = await start(thisVersion, place);
  try {
    if (readRootToken(place) !== rootToken) throw new Error('the root token is another one');
    const bound = await bindRows(place);
    if (bound > 0)
      step(`${bound} rows had no hash, and were bound by hand, as the notes of an upgrade must say`);
    await data.check();
    await stop(after);
  } finally {
    await after.discard();
  }
}

async function start({ folder, node }: Version, { env }: Place): Promise<Program> {
  const program = new Program(node, { args: [join(folder, 'services/standalone/src/main.ts')], env });
  await program.untilPrinted('ready ');
  return program;
}

async function stop(program: Program): Promise<void> {
  const { code, signal } = await program.end('SIGTERM');
  if (code !== 0)
    throw new Error(`the service ended with ${code ?? signal}:\n${program.printed.slice(-2_000)}`);
}

/**
 * Does what an operator does whose row key is bound, if this version binds rows that the older one did not: services refuse these
 * rows until then. Returns their number.
 */
async function bindRows(place: Place): Promise<number> {
  const env = { DATABASE_URL: embeddedUrl(place.dataDir), ROW_KEY_FILE: join(place.dataDir, 'row.key') };
  const rows = JSON.parse((await setup(thisVersion, ['rows'], place, env)).trim().split('\n').at(-1)!);
  if (rows.noHash > 0) await setup(thisVersion, ['bind', rows.digest], place, env);
  return rows.noHash;
}

async function backUp(older: OlderSource, place: Place): Promise<Record<string, string>> {
  const passphrase = join(place.dataDir, 'backup-passphrase');
  writeFileSync(passphrase, randomBytes(24).toString('base64'), { mode: 0o600 });
  const archive = { BACKUP_FILE: join(place.dataDir, 'older.age'), BACKUP_PASSPHRASE_FILE: passphrase };
  await setup(older, ['backup'], place, archive);
  return archive;
}

/** Runs a command of setup in a version, and returns its log. Rejects, with its log, if it fails. */
async function setup(
  { folder, node }: Version,
  command: string[],
  { dataDir }: Place,
  env: Record<string, string>,
): Promise<string> {
  const args = [join(folder, 'services/setup/src/main.ts'), ...command];
  const options = { env: { ...env, PATH: process.env.PATH, DATA_DIR: dataDir } };
  const { stdout } = await promisify(execFile)(node, args, options).catch(
    (failed: { stdout: string; stderr: string }) => {
      throw new Error(
        `${command[0]} has failed: ${failed.stdout.slice(-2_000)}${failed.stderr.slice(-2_000)}`,
      );
    },
  );
  return stdout;
}
