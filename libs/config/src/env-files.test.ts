import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { withFiles } from './env-files.ts';
import { readConfig } from './read-config.ts';

const Env = z.object({ AZURE_CLIENT_SECRET: z.string().optional() });
const read = (env: Record<string, string>) => readConfig(Env, withFiles(env)).AZURE_CLIENT_SECRET;

test('a secret may be in a file, whose variable has the suffix _FILE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-files-'));
  const file = join(folder, 'client-secret');
  writeFileSync(file, 'from a file\n');
  expect(read({ AZURE_CLIENT_SECRET_FILE: file, AZURE_CLIENT_SECRET: 'other' })).toBe('from a file');
  writeFileSync(file, '');
  expect(read({ AZURE_CLIENT_SECRET_FILE: file })).toBeUndefined();
  rmSync(folder, { recursive: true });
});

test('without the name of a file, the variable itself counts', () => {
  expect(read({ AZURE_CLIENT_SECRET_FILE: '', AZURE_CLIENT_SECRET: 'itself' })).toBe('itself');
});

test.each([
  ['DATABASE_URL_FILE', join(tmpdir(), 'nothing')],
  ['AZURE_CLIENT_SECRET_FILE', '/nowhere/client-secret'],
])('a file that does not exist is an error with its name: %s', (name, file) => {
  expect(() => read({ [name]: file })).toThrow(file);
});

test('a client secret, which need not exist, may be absent from a folder that exists', () => {
  expect(read({ AZURE_CLIENT_SECRET_FILE: join(tmpdir(), 'nothing') })).toBeUndefined();
});
