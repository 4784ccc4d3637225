import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lockFolder } from './lock-folder.ts';

const folder = () => join(mkdtempSync(join(tmpdir(), 'lock-')), 'data');

test('a second taker is refused while the first lives, and let in after release', () => {
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
