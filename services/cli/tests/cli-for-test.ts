import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../src/secrets-sync.ts', import.meta.url));

/** A program that has ended, and what it wrote. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `secrets-sync` as a user would, in an environment that has only these variables. */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], { env });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
}
