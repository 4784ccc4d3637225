import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluateTemplate } from './evaluate-template.ts';
import { truncateSha256 } from './name-functions.ts';
import type { NameVariables } from './name-variables.ts';
import { parseTemplate } from './parse-template.ts';

const variables: NameVariables = {
  DestinationType: 'cloudA-sm',
  DestinationName: 'main',
  NamespacePath: 'team/web',
  NamespaceBaseName: 'web',
  NamespaceID: 'n1',
  MountPath: 'my/kv',
  MountBaseName: 'kv',
  MountAccessor: 'kv_1234',
  SecretPath: 'app/My Secret',
  SecretBaseName: 'My Secret',
};

const name = (template: string, over: Partial<NameVariables> = {}) =>
  evaluateTemplate(parseTemplate(template), { ...variables, ...over });

describe('a valid template', () => {
  test.each([
    ['plain', 'plain'],
    ['a/{{ .MountAccessor }}/{{.SecretBaseName}}!', 'a/kv_1234/My Secret!'],
    ['{{ .SecretPath | replace "/" "-" | lowercase }}', 'app-my secret'],
    ['{{ replace "/" "-" .SecretPath | uppercase }}', 'APP-MY SECRET'],
    ['{{ .SecretPath | trimprefix "app/" | trimsuffix "Secret" }}|', 'My |'],
    ['{{ .SecretPath | truncate 3 }}{{ "x\\"y" }}{{ `r"w` }}', 'appx"yr"w'],
    ['{{ .NamespaceID | sha256 | truncate 8 }}', '676b8bb8'],
    ['{{ .DestinationName | base64 }}', 'bWFpbg=='],
    ['{{ truncate_sha256 40 .SecretPath }}', 'app/My Secret'],
    ['{{ .SecretPath | replace "e" "$&" }}', 'app/My S$&cr$&t'],
  ])('%s produces %s', (template, expected) => {
    expect(name(template)).toBe(expected);
  });
});

describe('an invalid template', () => {
  test.each([
    ['{{ .SecretPath', /not closed by }} at position 1/],
    ['a }} b', /}} without {{ at position 3/],
    ['{{ }}', /empty .* at position 1/],
    ['{{ .SecretPath | }}', /ends in \|/],
    ['{{ | lowercase }}', /nothing before \|/],
    ['{{ .Password }}', /unknown variable \.Password at position 4/],
    ['{{ .SecretPath | now }}', /unknown function now at position 18/],
    ['{{ .SecretPath.Key }}', /unexpected character/],
    ['{{- .SecretPath }}', /unexpected character at position 3/],
    ['{{ .SecretPath "a" }}', /only a function takes arguments/],
    ['{{ lowercase }}', /no text to apply to/],
    ['{{ now }}', /unknown function now at position 4/],
    ['{{ .SecretPath | replace "a" }}', /takes 2 arguments, not 1/],
    ['{{ .SecretPath | truncate "a" }}', /takes a number here/],
    ['{{ .SecretPath | truncate 0 }}', /from 1 to 2048/],
    ['{{ .SecretPath | truncate_sha256 16 }}', /from 17 to 2048/],
    ['{{ .SecretPath | replace "" "a" }}', /empty text/],
    ['{{ range .SecretPath }}', /unknown function range/],
  ])('%s is refused because of %s', (template, reason) => {
    expect(() => parseTemplate(template)).toThrow(reason);
  });

  test('of more than 1024 characters is refused', () => {
    expect(() => parseTemplate('x'.repeat(1025))).toThrow(/longer than 1024/);
  });

  test('is refused at evaluation if a variable has no value or the name is too long', () => {
    expect(() => name('{{ .SecretKey }}')).toThrow(/secret-key granularity only/);
    expect(() => name('{{ .SecretPath }}', { SecretPath: 'x'.repeat(2049) })).toThrow(/longer than 2048/);
    const bomb = `{{ .SecretPath ${'| replace "a" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"'.repeat(20)} }}`;
    expect(() => name(bomb)).toThrow(/more than 65536/);
  });
});

describe('for any input', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 60 });

  test('parsing returns a template or throws a TemplateError', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 80 }),
        fc.constantFrom('{{', '}}', '{{ .SecretPath |', '"'),
        (text, piece) => {
          try {
            parseTemplate(text + piece + text);
          } catch (error) {
            expect((error as Error).name).toBe('TemplateError');
          }
        },
      ),
    );
  });

  test('the same variables produce the same name, and different paths different names', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const nameOf = (path: string) => name('x/{{ .SecretPath }}/y', { SecretPath: path });
        expect(nameOf(one)).toBe(nameOf(one));
        expect(nameOf(one) === nameOf(other)).toBe(one === other);
      }),
    );
  });

  test('truncate_sha256 returns the requested length and keeps texts distinct', () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 17, max: 40 }), (one, other, length) => {
        fc.pre(one !== other);
        const start = 'a common beginning that is longer than the name may be: ';
        expect([...truncateSha256(start + one, length)]).toHaveLength(length);
        expect(truncateSha256(start + one, length)).not.toBe(truncateSha256(start + other, length));
      }),
    );
  });
});
