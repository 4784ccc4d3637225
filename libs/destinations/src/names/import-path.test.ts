import { expect, test } from '@jest/globals';
import { findDescription } from '../registry.ts';
import { whyTemplateRefused } from './check-template.ts';
import { importPath, parsePathTemplate } from './import-path.ts';

const pathOf = (template: string, name: string) => importPath(parsePathTemplate(template), name);

test.each([
  ['{{ .ExternalName }}', 'prod/db', 'prod/db'],
  ['team/{{ .ExternalName | trimprefix "prod-" | replace "-" "/" }}', 'prod-db-main', 'team/db/main'],
  ['{{ .ExternalName | split "--" 1 }}/{{ split "--" 0 .ExternalName | lowercase }}', 'DB--app', 'app/db'],
])('%s maps %s to %s', (template, name, path) => {
  expect(pathOf(template, name)).toEqual({ path });
});

test('a name that has too few parts has no path, and the reason is returned', () => {
  expect(pathOf('{{ .ExternalName | split "/" 2 }}', 'a/b')).toEqual({ refusal: 'split finds no part 2' });
});

test.each([
  ['{{ .ExternalName', /^path: .*not closed/],
  ['{{ .SecretPath }}', /^path: unknown variable \.SecretPath at position 4/],
  ['{{ .ExternalName | split "/" }}', /^path: split takes 2 arguments, not 1/],
  ['{{ .ExternalName | split "" 0 }}', /^path: split cannot split at the empty text/],
  ['{{ .ExternalName | now }}', /^path: unknown function now/],
])('%s is refused because of %s', (template, reason) => {
  expect(() => parsePathTemplate(template)).toThrow(reason);
});

test.each(['{{ .ExternalName }}', '{{ .SecretPath | split "/" 0 }}'])(
  'a template of names cannot be %s',
  (template) => {
    const description = findDescription('cloudA-sm');
    expect(whyTemplateRefused(description, template, 'secret-path')).toMatch(/^unknown (variable|function)/);
  },
);
