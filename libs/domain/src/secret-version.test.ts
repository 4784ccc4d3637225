import { describe, expect, test } from '@jest/globals';
import { decodeSecretData, encodeSecretData, SecretData, versionAad } from './secret-version.ts';

const nested = (levels: number): unknown => (levels === 0 ? 'leaf' : { inner: nested(levels - 1) });

describe('the value of a version', () => {
  test.each([[null], [[]], ['text'], [1], [undefined]])('refuses %j, which is not an object', (given) => {
    expect(SecretData.safeParse(given).success).toBe(false);
  });

  test('accepts 100 levels, and refuses 101 and 100,000', () => {
    expect(SecretData.safeParse(nested(100)).success).toBe(true);
    expect(SecretData.safeParse(nested(101)).success).toBe(false);
    const deep = JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    expect(SecretData.safeParse(deep).success).toBe(false);
  });

  test('accepts 5,000 values, and refuses 5,001', () => {
    expect(SecretData.safeParse({ list: Array(4_998).fill(1) }).success).toBe(true);
    expect(SecretData.safeParse({ list: Array(4_999).fill(1) }).error?.issues).toMatchObject([
      { message: 'has more than 5,000 values' },
    ]);
  });

  test.each(['{"__proto__":{"a":1}}', '{"a":"\\ud800","b":"\\u0000"}', '{}', '{"ä/ö":[1,null,{"x":false}]}'])(
    'decodes %s unchanged',
    (text) => {
      const parsed = SecretData.parse(JSON.parse(text));
      expect(JSON.stringify(decodeSecretData(encodeSecretData(parsed)))).toBe(text);
    },
  );
});

test('different locations have different additional authenticated data', () => {
  const location = { mountId: 'm', path: 'a:b', versionId: 'v' };
  const others = [
    { ...location, mountId: 'n' },
    { ...location, path: 'a' },
    { ...location, versionId: 'w' },
  ];
  for (const other of others) expect(versionAad(other)).not.toBe(versionAad(location));
});
