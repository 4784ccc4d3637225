import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { atExit } from './at-exit.ts';

export interface ChildServerOptions {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Removed when the server has stopped. */
  folder: string;
  port: number;
  stopSignal: NodeJS.Signals;
}

/** Long, because a start shares the processors with everything else that runs. */
const startTimeoutMs = 240_000;
const stopTimeoutMs = 10_000;

/** A server program. It runs in a process group, which is stopped as a whole. */
export interface ChildServer {
  readonly pid: number;
  stop(): Promise<void>;
  stopNow(): void;
  /**
   * Ends the server with a signal and starts it again, in its folder and on its port. `meanwhile` runs while it is down.
   * Resolves when it listens.
   */
  restart(signal: NodeJS.Signals, meanwhile?: (folder: string) => Promise<void> | void): Promise<void>;
}

/** Starts a program and resolves when it listens on its port. Throws with the last line of its output if it does not. */
export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const { folder, stopSignal } = options;
  let child: ChildProcess | undefined;
  const start = async () => {
    const started = spawnIn(options);
    child = started.child;
    if (await untilListening(child, options.port)) return;
    stopNow();
    throw new Error(`${options.command} did not start: ${started.lastLine()}`);
  };
  const end = async (signal: NodeJS.Signals) => {
    signalGroup(child, signal);
    if (isRunning(child))
      await once(child, 'exit', { signal: AbortSignal.timeout(stopTimeoutMs) }).catch(() => undefined);
    signalGroup(child, 'SIGKILL');
    for (const stream of [child?.stdout, child?.stderr]) stream?.destroy(); // a grandchild may keep them open
  };
  const stopNow = () => {
    signalGroup(child, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    forget();
  };
  const forget = atExit(stopNow); // also during startup
  await start();
  return {
    get pid() {
      return child!.pid!;
    },
    stopNow,
    stop: async () => {
      await end(stopSignal);
      stopNow();
    },
    restart: async (signal, meanwhile) => {
      await end(signal);
      await untilFree(options.port);
      await meanwhile?.(folder);
      await start();
    },
  };
}

function spawnIn({ command, args, env, folder }: ChildServerOptions) {
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-500);
    });
  }
  child.once('error', (error) => {
    output += String(error);
  });
  return { child, lastLine: () => output.trim().split('\n').at(-1) ?? '' };
}

const isRunning = (child: ChildProcess | undefined): child is ChildProcess =>
  child !== undefined && child.pid !== undefined && child.exitCode === null && child.signalCode === null;

function signalGroup(child: ChildProcess | undefined, signal: NodeJS.Signals): void {
  try {
    if (child?.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has exited already.
  }
}

async function untilListening(child: ChildProcess, port: number): Promise<boolean> {
  const end = Date.now() + startTimeoutMs;
  while (Date.now() < end && child.exitCode === null && child.pid !== undefined) {
    if (await isListening(port)) return true;
    await sleep(100);
  }
  return false;
}

/** A program that the first one has started may still end, and would be taken for the new one. */
async function untilFree(port: number): Promise<void> {
  const end = Date.now() + stopTimeoutMs;
  while (Date.now() < end && (await isListening(port))) await sleep(20);
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });
}
