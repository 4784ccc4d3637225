import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';

const module = new URL('./run-process.ts', import.meta.url).href;

/** A process that is run with this start, sent SIGTERM as soon as it says so; how it ended. */
async function endedBySigterm(
  start: string,
): Promise<{ code: number | null; signal: string | null; said: string }> {
  const program = `
    import { runProcess } from '${module}';
    const log = { info: () => {}, fatal: ({ error }) => console.error(error) };
    setInterval(() => {}, 60_000);
    await runProcess(log, ${start});`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const exited = once(child, 'close');
  child.stdout.once('data', () => child.kill('SIGTERM'));
  const [code, signal] = await exited;
  return { code, signal, said };
}

// The first process of a container ignores a signal that it does not handle.
test('SIGTERM during the start ends the process at once with 0', async () => {
  const start = `() => { console.log('starting'); return new Promise(() => {}); }`;
  expect(await endedBySigterm(start)).toMatchObject({ code: 0, signal: null });
});

test('SIGTERM stops what runs, then ends the process with 0', async () => {
  const stop = `() => new Promise((resolve) => setTimeout(() => { console.log('stopped'); resolve(); }, 50))`;
  const start = `async () => { setTimeout(() => console.log('ready'), 50); return { stop: ${stop} }; }`;
  expect(await endedBySigterm(start)).toEqual({ code: 0, signal: null, said: 'ready\nstopped\n' });
});

test('a stop that fails ends the process with 1', async () => {
  const start = `async () => { setTimeout(() => console.log('ready'), 50); return { stop: async () => { throw new Error('expected here'); } }; }`;
  expect(await endedBySigterm(start)).toMatchObject({ code: 1, signal: null });
});
