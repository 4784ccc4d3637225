import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseUrl } from '../../libs/db/src/embedded/address.ts';
import { clusterFolder, passwordFile } from '../../libs/db/src/embedded/data-folder.ts';
import { type Db, openPostgres } from '../../libs/db/src/index.ts';
import { freePorts } from '../../scripts/free-ports.ts';
import { bundleEnv, mainOf, type ProcessExit, Program } from './program.ts';

/** Where an installation keeps its data and listens. */
export interface Place {
  dataDir: string;
  url: string;
  sandboxUrl: string;
  /** The environment that `npm start` needs to run here. */
  env: NodeJS.ProcessEnv;
}

/** Returns a place with temporary data and free ports. Nothing is started. */
export async function temporaryPlace(parent = tmpdir()): Promise<Place> {
  const dataDir = mkdtempSync(join(parent, 'secrets-service-'));
  const [port, sandboxPort, internalPort] = await freePorts(3);
  const own = {
    DATA_DIR: dataDir,
    PORT: `${port}`,
    SANDBOX_PORT: `${sandboxPort}`,
    INTERNAL_PORT: `${internalPort}`,
    SANDBOX: 'on',
    INSTALLATION: 'test', // otherwise, the place of the data would identify it, and a copy would sync nothing
  };
  return {
    dataDir,
    url: `http://127.0.0.1:${port}`,
    sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
    env: { ...process.env, ...own },
  };
}

/** Starts the standalone service without waiting until it is ready. */
export const launchStandalone = ({ env }: Place): Program =>
  new Program(process.execPath, {
    args: [mainOf('standalone')],
    env: { ...env, ...bundleEnv },
  });

/** Reads the root token of an installation that is ready. */
export const readRootToken = ({ dataDir }: Place): string =>
  readFileSync(join(dataDir, 'root-token'), 'utf8').trim();

/** Opens the database of an installation that runs, for what no client can do, such as letting time pass. */
export function openDatabase({ dataDir, env }: Pick<Place, 'dataDir' | 'env'>): Db {
  const folder = join(dataDir, 'postgres');
  const lines = readFileSync(join(clusterFolder(folder), 'postmaster.pid'), 'utf8').split('\n');
  const [, , , port, socketFolder] = lines; // https://www.postgresql.org/docs/18/storage-file-layout.html
  const address = socketFolder
    ? { socketFolder }
    : { port: Number(port), password: readFileSync(passwordFile(folder), 'utf8').trim() };
  return openPostgres({ url: env.DATABASE_URL ?? databaseUrl(address, 'postgres'), connections: 2 });
}

/** The files of a new installation, without its audit log and the data of the sandbox. */
const initialFiles = ['postgres', 'seal.key', 'internal.key', 'row.key', 'root-token'];
let creatingInitialData: Promise<string> | undefined;

/**
 * Copies the data of a new installation into an empty data folder, if this run has a folder to keep such data in. Each worker
 * of Jest creates it once. The copy saves each start the creation of a database and its migrations.
 */
export async function copyInitialData({ dataDir, env }: Place): Promise<void> {
  const { TEST_INITIAL_DATA: parent, JEST_WORKER_ID: worker = '', DATABASE_URL: ownDatabase } = env;
  if (parent === undefined || ownDatabase !== undefined) return;
  const folder = join(parent, `of-worker-${worker}`);
  if (!existsSync(folder)) {
    creatingInitialData ??= createInitialData(folder);
    await creatingInitialData;
  }
  execFileSync('cp', ['-Rp', ...initialFiles.map((name) => join(folder, name)), dataDir]);
}

async function createInitialData(folder: string): Promise<string> {
  const place = await temporaryPlace(dirname(folder)); // which it is renamed in
  const program = launchStandalone(place);
  await program.untilPrinted('ready ').finally(() => program.end('SIGTERM'));
  renameSync(place.dataDir, folder);
  return folder;
}

/** The standalone service as a process, on temporary data and free ports. */
export interface Standalone extends Place {
  rootToken: string;
  /** The memory that the service uses, without its database, in MiB. */
  residentMebibytes(): number;
  /** Kills the service with SIGKILL and starts it again on the same data. Resolves when it is ready. */
  crash(): Promise<void>;
  /** Stops the service and deletes its data. Also ends a start that is in progress. */
  stop(): Promise<ProcessExit>;
}

/**
 * Removes a folder in which a database that was just starting may still remove files of its own for a moment: `rmSync`
 * then stops early, without an error.
 */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 0; existsSync(folder) && attempt < 50; attempt += 1) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    if (existsSync(folder)) await sleep(20);
  }
}

/** Starts the service and resolves when it is ready. If `signal` is aborted meanwhile, cleans up and throws. */
export async function startStandalone(
  signal?: AbortSignal,
  env: NodeJS.ProcessEnv = {},
): Promise<Standalone> {
  const anywhere = await temporaryPlace();
  const variables = { ...anywhere.env, ...env };
  const place = { ...anywhere, env: variables, url: `http://127.0.0.1:${variables.PORT}` };
  await copyInitialData(place);
  let isStopped = false;
  let isEndRequested = false;
  const launch = () => {
    isEndRequested = false;
    const launched = launchStandalone(place);
    void launched.ended().then((code) => {
      if (!isEndRequested)
        console.error(`the service ended by itself, with ${code}:\n${launched.printed.slice(-2_000)}`);
    });
    return launched;
  };
  let program = launch();
  const stop = async () => {
    isStopped = true;
    isEndRequested = true;
    const ending = await program.end('SIGTERM');
    await removeFolder(place.dataDir);
    return ending;
  };
  const abort = () => {
    isEndRequested = true;
    void program.end('SIGTERM');
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await program.untilPrinted('ready ');
  } catch (error) {
    await stop();
    throw error;
  }
  const crash = async () => {
    isEndRequested = true;
    await program.end('SIGKILL');
    if (isStopped) throw new Error('the service was stopped');
    program = launch();
    await program.untilPrinted('ready ');
  };
  const residentMebibytes = () => program.residentMebibytes;
  return { ...place, rootToken: readRootToken(place), residentMebibytes, crash, stop };
}
