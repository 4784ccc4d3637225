import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decrypt, encrypt, ForeignBytesError, SealError, sealedWith } from './envelope.ts';
import { openKeyFile } from './key-file.ts';
import { keyLineText, parseKeyLines } from './key-lines.ts';
import { parseKeyRing } from './key-ring.ts';
import { keyedHash, matchesKeyedHash } from './keyed-hash.ts';
import { seal } from './sealed.ts';

const line = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const [older, newer] = [line('2025'), line('2026')];
const keyRing = parseKeyRing(`${newer}\n# retired\n${older}\n`, 'test');

describe('envelope', () => {
  test('decrypts any bytes that it encrypted', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.string(), (plain, aad) => {
        expect([...decrypt(keyRing, aad, encrypt(keyRing, aad, plain))]).toEqual([...plain]);
      }),
    );
  });

  test('never returns the same bytes twice, and does not contain the value', () => {
    const plain = Buffer.from('canary-value');
    const [one, two] = [encrypt(keyRing, 'row', plain), encrypt(keyRing, 'row', plain)];
    expect(one.equals(two)).toBe(false);
    expect(one.includes('canary')).toBe(false);
  });

  test('refuses bytes moved to another row', () => {
    expect(() => decrypt(keyRing, 'row 2', encrypt(keyRing, 'row 1', Buffer.from('x')))).toThrow(SealError);
  });

  test('refuses any single changed bit', () => {
    const sealed = encrypt(keyRing, 'row', Buffer.from('value'));
    for (let at = 0; at < sealed.length; at++) {
      const damaged = Buffer.from(sealed);
      damaged[at]! ^= 1;
      expect(() => decrypt(keyRing, 'row', damaged)).toThrow(SealError);
    }
  });

  test('refuses truncated bytes', () => {
    const sealed = encrypt(keyRing, 'row', Buffer.from('value'));
    for (let length = 0; length < sealed.length; length++) {
      expect(() => decrypt(keyRing, 'row', sealed.subarray(0, length))).toThrow(SealError);
    }
  });

  test('opens with an older key, and names a missing one', () => {
    const before = parseKeyRing(older, 'test');
    const sealed = encrypt(before, 'row', Buffer.from('old'));
    expect(decrypt(keyRing, 'row', sealed).toString()).toBe('old');
    expect(sealedWith(sealed)).toBe('2025');
    expect(() => decrypt(parseKeyRing(newer, 'test'), 'row', sealed)).toThrow(/key 2025/);
  });

  test('a keyed hash can be compared after a newer key was added', () => {
    const hash = keyedHash(parseKeyRing(older, 'test'), 'pushed', 'value');
    expect(matchesKeyedHash(keyRing, 'pushed', 'value', hash)).toBe(true);
    expect(matchesKeyedHash(keyRing, 'pushed', 'other', hash)).toBe(false);
    expect(matchesKeyedHash(keyRing, 'another purpose', 'value', hash)).toBe(false);
  });
});

describe('bound key', () => {
  const key = line('k1');
  const [plainRing, boundRing] = [
    parseKeyRing(key, 'test'),
    parseKeyRing(`${line('k2')} bound\n${key}`, 'test'),
  ];
  const aad = (settings: string) => ({ plain: 'row', bound: `row ${settings}` });

  test('opens bytes only with the bound data that they were sealed with', () => {
    const sealed = encrypt(boundRing, aad('a'), Buffer.from('x'));
    expect(decrypt(boundRing, aad('a'), sealed).toString()).toBe('x');
    expect(() => decrypt(boundRing, aad('b'), sealed)).toThrow(ForeignBytesError);
    expect(() => decrypt(boundRing, 'row', sealed)).toThrow(ForeignBytesError);
  });

  test('another key still opens what it sealed before there was a bound one', () => {
    const sealed = encrypt(plainRing, aad('a'), Buffer.from('x'));
    expect(decrypt(boundRing, aad('b'), sealed).toString()).toBe('x');
  });
});

describe('key ring', () => {
  test.each([
    ['', /contains no key/],
    ['k1:c2hvcnQ=', /line 1: a key is 32 bytes/],
    [`bad id:${randomBytes(32).toString('base64')}`, /key id is/],
    [`${line('a')}\n${line('a')}`, /twice/],
    ['k1:awskms:', /the wrapped key k1 must have the form/],
    ['k1:awskms:arn:aws:kms:eu-west-1:1:key/x:not base64', /line 1: the wrapped key k1 must have the form/],
    ['k1:awskms:arn:aws:kms:eu-west-1:1:key/x:QUFBQQ==', /contains the wrapped key k1/],
  ])('refuses %j without showing the key', (text, message) => {
    expect(() => parseKeyRing(text, 'ring')).toThrow(message);
  });

  test('reads a wrapped key, whose name may contain colons, and writes the same line', () => {
    const text = 'k1:awskms:arn:aws:kms:eu-west-1:1:key/x:QUFBQQ== bound';
    const [key] = parseKeyLines(text, 'ring');
    expect(key).toEqual({
      id: 'k1',
      isBound: true,
      service: 'awskms',
      wrappedWith: 'arn:aws:kms:eu-west-1:1:key/x',
      ciphertext: Buffer.from('AAAA'),
    });
    expect(keyLineText(key!)).toBe(text);
  });

  test('a wrapped key that is not 32 bytes is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wrapped-'));
    const file = join(folder, 'seal.key');
    writeFileSync(file, 'k1:awskms:x:QUFBQQ==');
    await expect(openKeyFile(file, async () => Buffer.alloc(16))).rejects.toThrow(
      'the wrapped key k1 is not',
    );
    await expect(openKeyFile(file)).rejects.toThrow('the key k1 is wrapped by a key service');
    rmSync(folder, { recursive: true });
  });

  test('accepts one key in hex without an id', () => {
    expect(parseKeyRing(randomBytes(32).toString('hex'), 'ring').current.id).toBe('k1');
  });
});

test('printing a sealed value in any way yields asterisks', () => {
  const sealed = seal('canary');
  const printed = [
    `${sealed}`,
    JSON.stringify({ sealed }),
    inspect({ sealed }),
    String(sealed),
    inspect(sealed, { showHidden: true }),
  ];
  for (const text of printed) expect(text).not.toContain('canary');
  expect(sealed.reveal()).toBe('canary');
});

describe('key file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'key-file-'));
  const file = join(folder, 'seal.key');
  afterAll(() => rmSync(folder, { recursive: true }));

  test('after a reload, its first key encrypts, and a key that was removed still decrypts', async () => {
    writeFileSync(file, older);
    const keys = await openKeyFile(file);
    const sealed = encrypt(keys, 'row', Buffer.from('old'));
    writeFileSync(file, `${newer}\n${older}`);
    await keys.reload();
    writeFileSync(file, newer);
    await keys.reload();
    expect(sealedWith(encrypt(keys, 'row', Buffer.from('new')))).toBe('2026');
    expect(decrypt(keys, 'row', sealed).toString()).toBe('old');
    expect(keys.keys.map(({ id }) => id)).toEqual(['2026', '2025']);
  });

  test('decrypts with a key that was added to the file, before it is reloaded', async () => {
    writeFileSync(file, older);
    const keys = await openKeyFile(file);
    writeFileSync(file, `${older}\n${newer}`);
    const sealed = encrypt(parseKeyRing(newer, 'test'), 'row', Buffer.from('by another process'));
    expect(decrypt(keys, 'row', sealed).toString()).toBe('by another process');
  });

  test('keeps its keys if the file is unusable, lacks the current one, or has another key under a known id', async () => {
    writeFileSync(file, older);
    const keys = await openKeyFile(file);
    const sealed = encrypt(keys, 'row', Buffer.from('old'));
    for (const [content, reason] of [
      ['', /contains no key/],
      [line('2025'), /another key under the id 2025/],
      [`${older} bound`, /another key under the id 2025/],
      [newer, /lacks the current key 2025/],
    ] as const) {
      writeFileSync(file, content);
      await expect(keys.reload()).rejects.toThrow(reason);
      expect(decrypt(keys, 'row', sealed).toString()).toBe('old');
    }
  });
});
