import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { lockFolder } from './lock-folder.ts';

const folder = () => join(mkdtempSync(join(tmpdir(), 'lock-')), 'data');

test('a second process is refused until the first releases the lock', () => {
  const dir = folder();
  const release = lockFolder(dir);
  expect(() => lockFolder(dir)).toThrow(/in use by another process/);
  release();
  lockFolder(dir)();
});

test('a lock left by a killed process is taken over', async () => {
  const dir = folder();
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  writeFileSync(`${dir}.lock`, JSON.stringify({ pid: child.pid, started: '' }));
  child.kill('SIGKILL');
  await once(child, 'exit');
  lockFolder(dir)();
});

test('a lock left by a dead process that its parent has not reaped is taken over', async () => {
  if (process.platform !== 'linux')
    return console.warn('not run: only Linux distinguishes such a process from a running one');
  const dir = folder();
  const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(String(line));
  const fields = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  await eventually(() => fields()[0] === 'Z');
  writeFileSync(`${dir}.lock`, JSON.stringify({ pid, started: fields()[19] }));
  lockFolder(dir)();
  parent.kill();
});
