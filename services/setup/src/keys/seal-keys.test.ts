import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KeyServices, openKeyServices } from '@secrets/key-service';
import { openKeyFile } from '@secrets/seal';
import { startAwsKms, type TestedService } from '../../../../libs/key-service/tests/documented-services.ts';
import { sealKeys } from './seal-keys.ts';
import { parseSealKeysArguments } from './seal-keys-arguments.ts';

let folder: string;
let file: string;
let kms: TestedService;
let services: KeyServices;
const environment = { ...process.env };

const text = () => readFileSync(file, 'utf8');
const run = (command: string) => sealKeys(parseSealKeysArguments(command.split(' ')), services);
const keysOf = async (of = file) => (await openKeyFile(of, services.unwrap)).keys;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'seal-keys-'));
  file = join(folder, 'seal.key');
  kms = await startAwsKms();
  Object.assign(process.env, kms.credentials);
  services = openKeyServices({ KEY_SERVICE_CONTEXT: 'here', AWSKMS_ENDPOINT_URL: kms.server.url });
  const key = () => randomBytes(32).toString('base64');
  writeFileSync(file, `# of the operator\nk2:${key()} bound\n\nk1:${key()}\n`, { mode: 0o644 });
});
afterEach(async () => {
  await kms.server.stop();
  rmSync(folder, { recursive: true });
  for (const name of Object.keys(kms.credentials)) {
    if (environment[name] === undefined) delete process.env[name];
    else process.env[name] = environment[name];
  }
});

test('wraps the keys of a file, keeps ids, order, the word bound and comments, and repeats without effect', async () => {
  const before = await keysOf();
  const change = { file, changed: ['k2', 'k1'], unchanged: [] };
  expect(await run(`wrap --with awskms:${kms.keys[0]} ${file}`)).toEqual([change]);
  const lines = text().split('\n');
  expect(lines[0]).toBe('# of the operator');
  expect(lines[1]).toMatch(new RegExp(`^k2:awskms:${kms.keys[0]}:[A-Za-z0-9+/=]+ bound$`));
  expect(lines[3]).toMatch(new RegExp(`^k1:awskms:${kms.keys[0]}:[A-Za-z0-9+/=]+$`));
  expect(lines).toHaveLength(5);
  for (const { bytes } of before) expect(text()).not.toContain(bytes.toString('base64'));
  expect(await keysOf()).toEqual(before);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const wrapped = text();
  expect(await run(`wrap --with awskms:${kms.keys[0]} ${file}`)).toEqual([
    { file, changed: [], unchanged: ['k2', 'k1'] },
  ]);
  expect(text()).toBe(wrapped);
});

test('a dry run says what would change, and writes nothing', async () => {
  const before = text();
  expect(await run(`wrap --dry-run --with awskms:${kms.keys[0]} ${file}`)).toEqual([
    { file, changed: ['k2', 'k1'], unchanged: [] },
  ]);
  expect(text()).toBe(before);
  expect(readdirSync(folder)).toEqual(['seal.key']);
});

test('wraps again with another key, and back to plain', async () => {
  const before = await keysOf();
  await run(`wrap --with awskms:${kms.keys[0]} ${file}`);
  await run(`rewrap --with awskms:${kms.keys[1]} ${file}`);
  expect(text()).not.toContain(kms.keys[0]);
  expect(await keysOf()).toEqual(before);
  const again = text();
  await run(`rewrap --with awskms:${kms.keys[1]} ${file}`);
  expect(text()).toBe(again);
  await run(`unwrap ${file}`);
  expect(text()).not.toContain('awskms');
  expect(await keysOf()).toEqual(before);
});

test('appends a new key that was never stored in plain, the same one to each file, also after an interruption', async () => {
  const other = join(folder, 'worker.key');
  writeFileSync(other, text().trimEnd());
  await run(`new --with awskms:${kms.keys[0]} --id k3 ${file}`);
  await run(`new --with awskms:${kms.keys[0]} --id k3 ${file} ${other}`);
  const [keys, others] = [await keysOf(), await keysOf(other)];
  expect(keys.map(({ id, isBound }) => [id, isBound])).toEqual([
    ['k2', true],
    ['k1', false],
    ['k3', true],
  ]);
  expect(others).toEqual(keys);
  const before = text();
  await run(`new --with awskms:${kms.keys[0]} --id k3 ${file} ${other}`);
  expect(text()).toBe(before);
});

test('changes nothing if the key service does not answer, or a key could not be unwrapped afterwards', async () => {
  const before = text();
  kms.server.become('denied');
  await expect(run(`wrap --with awskms:${kms.keys[0]} ${file}`)).rejects.toThrow('the key k2');
  kms.server.become('works');
  const other = { ...services, unwrap: async () => randomBytes(32) };
  const request = parseSealKeysArguments(['wrap', '--with', `awskms:${kms.keys[0]}`, file]);
  await expect(sealKeys(request, other)).rejects.toThrow('is not the same after it was wrapped');
  expect(text()).toBe(before);
  expect(readdirSync(folder)).toEqual(['seal.key']);
});

test('does not overwrite a file that somebody else changes at the same time', async () => {
  const changing = {
    ...services,
    unwrap: async (key: Parameters<typeof services.unwrap>[0]) => {
      writeFileSync(file, 'k9:of somebody else');
      return services.unwrap(key);
    },
  };
  const request = parseSealKeysArguments(['wrap', '--with', `awskms:${kms.keys[0]}`, file]);
  await expect(sealKeys(request, changing)).rejects.toThrow('was changed by somebody else');
  expect(text()).toBe('k9:of somebody else');
});

test.each([
  ['wrap a'],
  ['wrap --with awskms:x'],
  ['unwrap --with awskms:x a'],
  ['new --with awskms:x a'],
  ['wrap --with awskms:x --id k1 a'],
  ['destroy a'],
  ['wrap --with awskms:x --force a'],
])('refuses the arguments %s', (command) => {
  expect(() => parseSealKeysArguments(command.split(' '))).toThrow(/^usage: main\.ts seal-keys/);
});
