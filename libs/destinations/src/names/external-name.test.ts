import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { destinationTypes, findDescription } from '../registry.ts';
import { whyTemplateRefused } from './check-template.ts';
import { namesOf } from './names-harness.ts';

const nameOf = namesOf(findDescription('cloudA-sm'));

test('the default name contains the accessor, the path and at secret-key granularity the key', () => {
  expect(nameOf()).toBe('secrets/kv_1234/my-secret');
  expect(nameOf({ SecretKey: 'foo' })).toBe('secrets/kv_1234/my-secret/foo');
  expect(nameOf({ SecretPath: 'a/b c!' })).toBe('secrets/kv_1234/a/b-c-');
});

test('long default names are truncated and stay distinct', () => {
  const long = 'x'.repeat(600);
  expect(nameOf({ SecretPath: `${long}1` })).toHaveLength(512);
  expect(nameOf({ SecretPath: `${long}1` })).not.toBe(nameOf({ SecretPath: `${long}2` }));
});

test.each(Object.values(destinationTypes))(
  'words that lose characters have different, valid and constant default names: $type',
  (description) => {
    const name = namesOf(description);
    const words = [
      'ключ',
      'тест',
      'p\u00e9',
      'pe\u0301',
      '密码',
      'ſ',
      'S',
      '\u212A',
      'k',
      '🔑',
      '🔒',
      'ключ'.repeat(200),
    ];
    for (const variable of ['SecretPath', 'SecretKey']) {
      const names = words.map((word) => name({ [variable]: word }));
      expect(new Set(names.map((one) => description.nameRule.collisionKey(one))).size).toBe(words.length);
    }
    expect(name({ SecretPath: 'ключ' }).toLowerCase()).toContain('faacc56c8fc5e2df');
  },
);

test("the result of a user's template is not changed, and refused if it is invalid", () => {
  expect(nameOf({}, 'app.{{ .SecretPath }}')).toBe('app.my-secret');
  expect(() => nameOf({ SecretPath: 'a b' }, '{{ .SecretPath }}')).toThrow(
    /"a b" cannot be used.*may only contain/,
  );
  expect(() => nameOf({ SecretPath: 'x'.repeat(513) }, '{{ .SecretPath }}')).toThrow(
    /1 to 512 characters, and has 513/,
  );
  expect(() => nameOf({}, '{{ .SecretPath | trimprefix "my-secret" }}')).toThrow(/1 to 512/);
  expect(() => nameOf({}, '{{ .SecretKey }}')).toThrow(/secret_name_template: .SecretKey/);
});

test.each([
  ['cloudA-sm', 'vault/kv_1234/shop/db'],
  ['cloudB-kv', 'vault-kv-1234-shop-db'],
  ['cloudC-sm', 'vault-kv_1234-shop-db'],
  ['codehost', 'VAULT_KV_1234_SHOP_DB'],
  ['webhost-project', 'vault_kv_1234_shop_db'],
])("slashes in a user's template are replaced as in default names: %s", (type, expected) => {
  const description = findDescription(type)!;
  const template = 'vault/{{ .MountAccessor }}/{{ .SecretPath }}';
  expect(namesOf(description)({ SecretPath: 'shop/db' }, template)).toBe(expected);
  expect(whyTemplateRefused(description, template, 'secret-path')).toBeUndefined();
});

test("different paths in the destination's own alphabet have different names", () => {
  const paths = fc.stringMatching(/^[A-Za-z0-9/_+=.@-]{1,600}$/);
  fc.assert(
    fc.property(paths, paths, (one, other) => {
      expect(nameOf({ SecretPath: one }) === nameOf({ SecretPath: other })).toBe(one === other);
    }),
  );
});
