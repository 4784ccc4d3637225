import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { KeysEnv } from '../../config.ts';
import { createKeys } from '../create-keys.ts';
import { createCertificates } from './create-certificates.ts';

const start = new Date('2026-01-15T12:00:00Z');
const daysLater = (days: number) => new Date(start.getTime() + days * 86_400_000);

let root: string;
const env = (more: Record<string, string> = {}) =>
  KeysEnv.parse({ KEYS_DIR: root, INTERNAL_TLS: 'on', ...more });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'certificates-'));
  createKeys(env());
});
afterEach(() => rmSync(root, { recursive: true }));

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const certificate = (name: string) => new X509Certificate(read(name));
const authorityNames = ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'];
const filesOf = (folder: string) =>
  readdirSync(join(root, folder)).filter((name) => authorityNames.includes(name));

test('each folder gets what it needs, and only setup the key of the authority', async () => {
  await createCertificates(env());
  const own = ['ca.crt', 'tls.crt', 'tls.key'];
  expect(Object.fromEntries(readdirSync(root).map((folder) => [folder, filesOf(folder)]))).toEqual({
    setup: ['ca.crt', 'ca.key'],
    gateway: own,
    login: own,
    secrets: own,
    'sync-control': own,
    'sync-worker-clouda-sm': own,
    'sync-worker-cloudb-kv': own,
    'sync-worker-cloudc-sm': own,
    'sync-worker-codehost': ['ca.crt'], // calls no other service
    'sync-worker-webhost-project': own,
    postgres: own,
    rabbitmq: own,
  });
  const keys = readdirSync(root).flatMap((folder) =>
    filesOf(folder).map((name) => [`${folder}/${name}`, read(`${folder}/${name}`)] as const),
  );
  for (const [name] of keys) expect(statSync(join(root, name)).mode & 0o777).toBe(0o400);
  const privateKeys = keys.filter(([name]) => name.endsWith('.key')).map(([, key]) => key);
  expect(new Set(privateKeys).size).toBe(privateKeys.length);
});

test('a certificate has the name of its folder, and only the purposes of its service', async () => {
  await createCertificates(env({ ALLOWED_HOSTS: 'vault.example.com, 10.1.2.3' }));
  const authority = certificate('setup/ca.crt');
  const [server, client] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];
  const local = 'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1';
  for (const [folder, names, purposes] of [
    ['gateway', `DNS:gateway, ${local}, DNS:vault.example.com, IP Address:10.1.2.3`, [server, client]],
    ['login', 'DNS:login', [server]],
    ['secrets', 'DNS:secrets', [server]],
    ['sync-control', 'DNS:sync-control', [server, client]],
    ['sync-worker-webhost-project', 'DNS:sync-worker-webhost-project', [client]],
    ['postgres', `DNS:postgres, ${local}`, [server]],
    ['rabbitmq', `DNS:rabbitmq, ${local}`, [server]],
  ] as const) {
    const { subjectAltName, keyUsage, ca } = certificate(`${folder}/tls.crt`);
    expect([folder, subjectAltName, keyUsage, ca]).toEqual([folder, names, purposes, false]);
    expect(certificate(`${folder}/tls.crt`).checkIssued(authority)).toBe(true);
    expect(read(`${folder}/ca.crt`)).toBe(read('setup/ca.crt'));
  }
  expect([authority.ca, authority.checkIssued(authority)]).toEqual([true, true]);
});

test('a certificate is renewed once it expires in less than 30 days, and keeps its key', async () => {
  expect(await createCertificates(env(), start)).toHaveLength(10);
  const before = read('secrets/tls.crt');
  const key = read('secrets/tls.key');
  expect(await createCertificates(env(), daysLater(334))).toEqual([]);
  expect(read('secrets/tls.crt')).toBe(before);
  expect(await createCertificates(env(), daysLater(336))).toHaveLength(10);
  const renewed = certificate('secrets/tls.crt');
  expect(new Date(renewed.validTo)).toEqual(daysLater(336 + 365));
  expect([read('secrets/tls.key'), read('setup/ca.crt')]).toEqual([key, read('login/ca.crt')]);
  expect(statSync(join(root, 'secrets/tls.crt')).mode & 0o777).toBe(0o400);
});

test('the certificate of the authority is renewed two years before its end, and verifies what the one before has signed', async () => {
  await createCertificates(env(), start);
  const [before, signed] = [certificate('setup/ca.crt'), certificate('login/tls.crt')];
  await createCertificates(env(), daysLater(3_650 - 729));
  const after = certificate('setup/ca.crt');
  expect(new Date(after.validTo)).toEqual(daysLater(2 * 3_650 - 729));
  for (const authority of [before, after])
    for (const one of [signed, certificate('login/tls.crt')]) {
      expect(one.checkIssued(authority)).toBe(true);
      expect(one.verify(authority.publicKey)).toBe(true);
    }
  expect(read('sync-worker-codehost/ca.crt')).toBe(read('setup/ca.crt'));
});

test.each([
  ['its key was deleted', () => rmSync(join(root, 'secrets/tls.key'), { force: true }), ['secrets']],
  ['it was deleted', () => rmSync(join(root, 'secrets/tls.crt'), { force: true }), ['secrets']],
  [
    'it is that of another service',
    () => {
      rmSync(join(root, 'secrets/tls.crt'));
      writeFileSync(join(root, 'secrets/tls.crt'), read('login/tls.crt'), { mode: 0o400 });
    },
    ['secrets'],
  ],
])('a certificate is issued again if %s', async (_case, change, expected) => {
  await createCertificates(env());
  change();
  expect(await createCertificates(env())).toEqual(expected);
  expect(await createCertificates(env())).toEqual([]);
});

test('the certificate of the gateway follows its names, and a new authority signs all again', async () => {
  await createCertificates(env());
  expect(await createCertificates(env({ ALLOWED_HOSTS: 'vault.example.com,::2' }))).toEqual(['gateway']);
  expect(await createCertificates(env({ ALLOWED_HOSTS: '::2,vault.example.com' }))).toEqual([]);
  rmSync(join(root, 'setup/ca.key'));
  expect(await createCertificates(env())).toHaveLength(10);
  expect(certificate('login/tls.crt').verify(certificate('setup/ca.crt').publicKey)).toBe(true);
});

test('the URLs of an installation follow INTERNAL_TLS, except those that an operator has changed', () => {
  const urls = () => ['setup/database-url', 'setup/broker-url', 'secrets/amqp-url'].map((name) => read(name));
  const secure = urls();
  expect(secure.map((url) => url.replace(/^(\w+:).*@/, '$1//…@').trim())).toEqual([
    'postgres://…@postgres:5432/secrets?sslmode=verify-full&sslrootcert=/run/keys/ca.crt',
    'https://…@rabbitmq:15671',
    'amqps://…@rabbitmq:5671?cacertfile=/run/keys/ca.crt',
  ]);
  const plain = env({ INTERNAL_TLS: 'off' });
  createKeys(plain);
  expect(urls().map((url) => url.replace(/^(\w+:).*@/, '$1//…@').trim())).toEqual([
    'postgres://…@postgres:5432/secrets',
    'http://…@rabbitmq:15672',
    'amqp://…@rabbitmq:5672',
  ]);
  rmSync(join(root, 'secrets/amqp-url'));
  writeFileSync(join(root, 'secrets/amqp-url'), 'amqp://of-the-operator\n');
  createKeys(env());
  expect(urls()).toEqual([secure[0], secure[1], 'amqp://of-the-operator\n']);
});
