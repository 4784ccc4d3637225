import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from '@jest/globals';
import { openAudit } from './audit.ts';

const folder = mkdtempSync(join(tmpdir(), 'audit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const newFile = () => join(folder, `${randomUUID()}.log`);
const field = (number: number) => `"number":${number}`;
const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const numbersIn = (...read: string[]): number[] => read.flatMap(linesOf).map(({ number }) => number);
const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

test('a line has its kind, its type, the time and the fields', async () => {
  const file = newFile();
  const audit = await openAudit([file]);
  await audit.write('request', '"path":"a","allowed":true');
  await audit.write('response', '"status":200');
  await audit.close();
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(linesOf(file)).toEqual([
    { kind: 'audit', type: 'request', time, path: 'a', allowed: true },
    { kind: 'audit', type: 'response', time, status: 200 },
  ]);
});

test('a file is created with its folder, only its owner can read it, and it is appended to', async () => {
  const file = join(folder, 'new', 'audit.log');
  for (const number of [1, 2]) {
    const audit = await openAudit([file]);
    await audit.write('request', field(number));
    await audit.close();
  }
  expect(numbersIn(file)).toEqual([1, 2]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('every device gets every line, and a line that one of them cannot write is refused', async () => {
  const [one, two] = [newFile(), newFile()];
  const audit = await openAudit([one, two]);
  expect(audit.devices).toEqual([
    { name: 'file', type: 'file', path: one },
    { name: 'file-2', type: 'file', path: two },
  ]);
  await Promise.all(upTo(10).map((number) => audit.write('request', field(number))));
  await audit.close();
  expect([numbersIn(one), numbersIn(two)]).toEqual([upTo(10), upTo(10)]);
  const half = await openAudit([one, '/dev/full']);
  await expect(half.write('request', field(10))).rejects.toMatchObject({ code: 'ENOSPC' });
  await half.close();
});

test('a full disk refuses each line, and none is refused when it has room again', async () => {
  const file = newFile();
  const program = `
    import { truncateSync } from 'node:fs';
    const { openAudit } = await import(${JSON.stringify(new URL('./audit.ts', import.meta.url).href)});
    const audit = await openAudit([${JSON.stringify(file)}]);
    const outcomes = [];
    for (let number = 0; number < 400; number++)
      outcomes.push(await audit.write('request', '"number":' + number).then(() => 'written', () => 'refused'));
    truncateSync(${JSON.stringify(file)});
    outcomes.push(await audit.write('request', '"number":400').then(() => 'written', () => 'refused'));
    console.log(JSON.stringify(outcomes));`;
  // The limit on the size of files acts like a full disk: the last write before it is cut off.
  const script = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module --eval "$1"`;
  const outcomes = JSON.parse(execFileSync('bash', ['-c', script, process.execPath, program]).toString());
  const written = outcomes.indexOf('refused');
  expect(written).toBeGreaterThan(10);
  expect(outcomes.slice(written, 400)).toEqual(Array(400 - written).fill('refused'));
  expect(outcomes[400]).toBe('written');
  expect(readFileSync(file, 'utf8').trim()).toMatch(/^\{[^\n]*"number":400\}$/);
});

test('no line is lost or written twice when the file is renamed and opened again under load', async () => {
  const file = newFile();
  const audit = await openAudit([file]);
  let next = 0;
  let isRunning = true;
  const load = Array.from({ length: 20 }, async () => {
    while (isRunning) await audit.write('request', field(next++));
  });
  const rotated: string[] = [];
  for (let round = 0; round < 10; round++) {
    do await sleep(10);
    while (statSync(file).size === 0);
    const name = `${file}.${round}`;
    renameSync(file, name);
    rotated.push(name);
    await audit.reopen();
    expect(existsSync(file)).toBe(true);
  }
  isRunning = false;
  await Promise.all(load);
  await audit.close();
  for (const part of rotated) expect(linesOf(part).length).toBeGreaterThan(0);
  expect(numbersIn(...rotated, file).sort((a, b) => a - b)).toEqual(upTo(next));
});

describe('a slow device', () => {
  test('delays its lines, but neither the event loop nor the order, and loses none', async () => {
    const pipe = newFile();
    execFileSync('mkfifo', [pipe]);
    const opened = openAudit([pipe]);
    const reader = createReadStream(pipe, { highWaterMark: 1_024 });
    const audit = await opened;
    const lines = 2_000;
    const isWritten = upTo(lines).map(() => false);
    const writes = upTo(lines).map((number) =>
      audit.write('request', field(number)).then(() => {
        isWritten[number] = true;
      }),
    );
    const started = performance.now();
    for (let tick = 0; tick < 20; tick++) await sleep(5);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(isWritten).toContain(false); // the pipe is full, and nobody reads
    const read: number[] = [];
    for await (const line of createInterface(reader)) {
      read.push(JSON.parse(line).number);
      if (read.length === lines) break;
    }
    await Promise.all(writes);
    expect(read).toEqual(upTo(lines));
    await audit.close();
    reader.destroy();
  });

  test('stdout as a pipe loses no line either, and a line of the log does not end up inside of another', async () => {
    const program = `
      const { openAudit } = await import(${JSON.stringify(new URL('./audit.ts', import.meta.url).href)});
      const { createLogger } = await import(${JSON.stringify(new URL('../logger.ts', import.meta.url).href)});
      const [audit, log] = [await openAudit(['-']), createLogger({ service: 'x' })];
      const writes = [];
      for (let number = 0; number < 3000; number++) {
        writes.push(audit.write('request', '"number":' + number));
        if (number % 100 === 0) await new Promise(setImmediate);
        if (number % 10 === 0) log.info('between');
      }
      await Promise.all(writes);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await sleep(300);
    const read: { number?: number }[] = [];
    for await (const line of createInterface(child.stdout)) read.push(JSON.parse(line));
    expect((await ended)[0]).toBe(0);
    expect(read.filter(({ number }) => number !== undefined).map(({ number }) => number)).toEqual(upTo(3000));
  });
});
