import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseStartError } from '../start-error.ts';
import { type Address, addressSettings, chooseAddress, databaseUrl } from './address.ts';
import { findBinaries } from './binaries.ts';
import { clusterFolder, createDataFolder } from './data-folder.ts';
import { closeToOthers, launch } from './launch.ts';
import { lockFolder } from './lock-folder.ts';
import { readPidFile } from './pid-file.ts';
import { stopLeftoverServer } from './stop-leftover-server.ts';

export interface EmbeddedServerOptions {
  /** Holds everything of this server; created if absent. One process at a time. */
  folder: string;
  /** Default true. False turns off `fsync`, for tests. */
  durable?: boolean;
  /** Default 100. */
  maxConnections?: number;
  /** A port of 127.0.0.1, with password authentication, in place of a Unix socket. Where there are no sockets, any free one. */
  port?: number;
  /** Settings of the server, in addition to ours or in their place: for tests. */
  settings?: Record<string, string | number>;
  /** Called with each line that the server writes to its log, and whether it was asked to stop before. */
  onLog?: (line: string, isStopping: boolean) => void;
}

/** A running PostgreSQL server, a child of this process. */
export interface EmbeddedServer {
  /** The connection URL of one of its databases. */
  url(database: string): string;
  /** Ends the server: SIGINT in an orderly way, SIGQUIT at once, SIGKILL as a crash would. Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again after `stop`. */
  start(): Promise<void>;
  /** Stops it and releases the folder. */
  close(): Promise<void>;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 20_000;
const restartPauseMs = 1_000;
const pollMs = 5;

/**
 * Starts PostgreSQL on a folder of its own, which is created if absent: on a Unix socket in it, or on a port of the loopback
 * interface. It is durable: what was committed survives `kill -9` of this process and of the server. A server that a killed
 * process left behind is ended first.
 * @throws if the folder is in use, cannot be read, belongs to another major version, or no binaries exist for this platform
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const folder = resolve(options.folder);
  const binaries = await findBinaries();
  const unlock = lockFolder(folder);
  try {
    closeToOthers(folder);
    await stopLeftoverServer(clusterFolder(folder));
    await createDataFolder(folder, binaries, options.durable ?? true);
    const address = await chooseAddress(folder, options.port);
    const server = new Server({ program: binaries.postgres, folder, address, options, unlock });
    await server.start();
    return server;
  } catch (error) {
    unlock();
    throw error;
  }
}

interface ServerParts {
  program: string;
  folder: string;
  address: Address;
  options: EmbeddedServerOptions;
  unlock: () => void;
}

class Server implements EmbeddedServer {
  readonly #parts: ServerParts;
  readonly #cluster: string;
  #child: ChildProcess | undefined;
  #starting: Promise<void> | undefined;
  /** False once `stop` was called: a start in progress then ends. */
  #isWanted = true;
  #output = '';

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#cluster = clusterFolder(parts.folder);
  }

  url(database: string): string {
    return databaseUrl(this.#parts.address, database);
  }

  async start(): Promise<void> {
    this.#isWanted = true;
    this.#starting ??= this.#startChild().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  async #startChild(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const child = this.#launch();
      if (await this.#becomesReady(child)) {
        this.#child = child;
        child.once('exit', () => this.#onExit(child));
        return;
      }
      if (!this.#isWanted) throw new DatabaseStartError('PostgreSQL was stopped while it was starting');
      // Processes of a server that was killed may need a moment to notice.
      if (!/shared memory block|is another postmaster/.test(this.#output) || Date.now() > deadline) {
        throw new DatabaseStartError(`PostgreSQL did not start on ${this.#cluster}: ${this.#output.trim()}`);
      }
      await sleep(100);
    }
  }

  #launch(): ChildProcess {
    const child = launch(this.#parts.program, ['-D', this.#cluster, ...settings(this.#parts)]);
    this.#output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => this.#onOutput(String(chunk)));
    child.once('error', (error) => this.#onOutput(String(error)));
    const endWithUs = () => child.kill('SIGINT');
    process.once('exit', endWithUs);
    child.once('exit', () => process.off('exit', endWithUs));
    return child;
  }

  async #becomesReady(child: ChildProcess): Promise<boolean> {
    const deadline = Date.now() + startTimeoutMs;
    while (this.#isWanted && isRunning(child) && Date.now() < deadline) {
      const file = readPidFile(this.#cluster);
      if (file?.pid === child.pid && file?.isReady) return true;
      await sleep(pollMs);
    }
    await end(child, 'SIGQUIT');
    return false;
  }

  /** Starts the server again when it exits unexpectedly; until then, queries throw `unavailable`. */
  #onExit(child: ChildProcess): void {
    if (child !== this.#child) return;
    this.#parts.options.onLog?.('FATAL: the server ended unexpectedly; starting it again', false);
    this.start().catch((error: unknown) => {
      if (!this.#isWanted) return;
      this.#parts.options.onLog?.(`FATAL: ${String(error)}`, false);
      setTimeout(() => this.#onExit(child), restartPauseMs).unref();
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    this.#isWanted = false;
    await this.#starting?.catch(() => undefined);
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined) await end(child, signal);
  }

  async close(): Promise<void> {
    await this.stop();
    this.#parts.unlock();
  }

  #onOutput(text: string): void {
    this.#output = (this.#output + text).slice(-1_000);
    for (const line of text.trimEnd().split('\n')) this.#parts.options.onLog?.(line, !this.#isWanted);
  }
}

/** https://www.postgresql.org/docs/18/runtime-config.html */
function settings({ address, options }: ServerParts): string[] {
  const { durable = true, maxConnections = 100 } = options;
  const values = {
    max_connections: maxConnections,
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    // One client on this machine, and no replicas: fewer processes, less to write, less memory.
    io_method: 'sync',
    wal_level: 'minimal',
    max_wal_senders: 0,
    max_logical_replication_workers: 0,
    jit: 'off',
    timezone: 'UTC',
    ...options.settings,
  };
  return [
    ...addressSettings(address),
    ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Ends a server; one that takes too long for an orderly stop is stopped at once, which loses nothing that was committed. */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGQUIT'), stopTimeoutMs);
  await exited;
  clearTimeout(timer);
}
