import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';

export interface ChildServerOptions {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Removed when the server has stopped. */
  folder: string;
  port: number;
  stopSignal: NodeJS.Signals;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;

/** A server program in a process group of its own, which is stopped as a whole. */
export interface ChildServer {
  pid: number;
  stop(): Promise<void>;
  stopNow(): void;
}

/** Starts a program and resolves when it listens on its port. Throws with its last words when it does not. */
export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const { command, args, env, folder, port, stopSignal } = options;
  const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let words = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      words = (words + chunk).slice(-500);
    });
  }
  const failed = once(child, 'error').then(([error]) => String(error));
  failed.catch(() => undefined);
  const stopNow = () => {
    signalGroup(child, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.off('exit', stopNow);
  };
  process.once('exit', stopNow); // also while it is still starting
  const isUp = await untilListening(child, port);
  if (!isUp) {
    stopNow();
    throw new Error(`${command} did not start: ${words.trim().split('\n').at(-1) ?? ''}`);
  }
  return {
    pid: child.pid!,
    stopNow,
    stop: async () => {
      signalGroup(child, stopSignal);
      if (child.exitCode === null) await Promise.race([once(child, 'exit'), soon(stopTimeoutMs)]);
      stopNow();
    },
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It is gone already.
  }
}

async function untilListening(child: ChildProcess, port: number): Promise<boolean> {
  const end = Date.now() + startTimeoutMs;
  while (Date.now() < end && child.exitCode === null && child.pid !== undefined) {
    if (await isListening(port)) return true;
    await soon(100);
  }
  return false;
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

const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Ports that nothing listens on at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
