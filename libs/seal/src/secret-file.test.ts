import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSecretFile, readSecretFile } from './secret-file.ts';

describe('createSecretFile', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'secret-file-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('creates the file, readable only by its owner, and returns its content', () => {
    const file = join(folder, 'new', 'key');
    expect(readSecretFile(file)).toBeUndefined();
    expect(createSecretFile(file, () => 'first\n')).toBe('first\n');
    expect(readSecretFile(file)).toBe('first\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o700);
  });

  test('does not change a file that exists, nor generate a secret for it', () => {
    const file = join(folder, 'key');
    writeFileSync(file, 'of the operator\n');
    const generate = () => {
      throw new Error('unreachable');
    };
    expect(createSecretFile(file, generate)).toBe('of the operator\n');
  });

  test('of two processes, the one that creates the file first determines its content', () => {
    const file = join(folder, 'key');
    const content = createSecretFile(file, () => {
      createSecretFile(file, () => 'first\n'); // the other process, between our look and our link
      return 'second\n';
    });
    expect(content).toBe('first\n');
    expect(readdirSync(folder)).toEqual(['key']);
  });

  test('ignores and removes what a crash left behind, and nothing else', () => {
    writeFileSync(join(folder, '.key.new-0123'), 'half a k');
    writeFileSync(join(folder, '.key2.new-0123'), 'the draft of another file');
    const file = join(folder, 'key');
    expect(createSecretFile(file, () => 'whole\n')).toBe('whole\n');
    expect(readFileSync(file, 'utf8')).toBe('whole\n');
    expect(readdirSync(folder).sort()).toEqual(['.key2.new-0123', 'key']);
  });

  test('throws the error of the file system if the file cannot be created', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => createSecretFile(join(folder, 'file', 'key'), () => 'x')).toThrow(/ENOTDIR/);
  });
});
