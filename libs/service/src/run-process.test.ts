import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';

const module = new URL('./run-process.ts', import.meta.url).href;

/** Runs a process with this `start` function, sends it SIGTERM after its first output, and returns how it ended. */
async function endedBySigterm(
  start: string,
): Promise<{ code: number | null; signal: string | null; output: string }> {
  const program = `
    import { runProcess } from '${module}';
    const log = { info: () => {}, fatal: ({ error }) => console.error(error) };
    setInterval(() => {}, 60_000);
    await runProcess(log, ${start});`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const exited = once(child, 'close');
  child.stdout.once('data', () => child.kill('SIGTERM'));
  const [code, signal] = await exited;
  return { code, signal, output };
}

// The first process of a container ignores signals that it does not handle.
test('exits with 0 within seconds on SIGTERM during a start that does not end', async () => {
  const start = `() => { console.log('starting'); return new Promise(() => {}); }`;
  expect(await endedBySigterm(start)).toMatchObject({ code: 0, signal: null });
});

test('stops what SIGTERM found starting, and exits with 0', async () => {
  const stop = `async () => { console.log('stopped'); }`;
  const start = `() => new Promise((resolve) => {
    console.log('starting');
    setTimeout(() => resolve({ stop: ${stop} }), 300);
  })`;
  expect(await endedBySigterm(start)).toEqual({ code: 0, signal: null, output: 'starting\nstopped\n' });
});

test('stops and exits with 0 on SIGTERM', async () => {
  const stop = `() => new Promise((resolve) => setImmediate(() => { console.log('stopped'); resolve(); }))`;
  const start = `async () => { setImmediate(() => console.log('ready')); return { stop: ${stop} }; }`;
  expect(await endedBySigterm(start)).toEqual({ code: 0, signal: null, output: 'ready\nstopped\n' });
});

test('exits with 1 if stopping fails', async () => {
  const stop = `async () => { throw new Error('expected in this test'); }`;
  const start = `async () => { setImmediate(() => console.log('ready')); return { stop: ${stop} }; }`;
  expect(await endedBySigterm(start)).toMatchObject({ code: 1, signal: null });
});
