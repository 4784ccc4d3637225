import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from '../../scripts/demo/http.ts';
import { eventually, expectStatus, fixture, type Installation, startInstallation } from './installation.ts';

/** Planted in every secret field; looked for everywhere, in the arguments of other processes too: drawn anew. */
const canary = `kanarienvogel-${randomBytes(4).toString('hex')}`;
const inBase64 = Buffer.from(canary).toString('base64').slice(2, 20);

let system: Installation;

beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());

test('a secret value is nowhere but where it belongs', async () => {
  const answers: string[] = [];
  const call: Installation['api'] = async (method, path, body) => {
    const answer = await system.api(method, path, body);
    answers.push(JSON.stringify(answer.body) ?? '');
    return answer;
  };
  const at = await fixture(system);
  await call('POST', `${at.mount}/data/a`, { data: { [canary]: canary } });
  await call('POST', `${at.mount}/data/a`, { data: canary });
  await call('POST', `${at.mount}/data/b`, { data: { v: canary.repeat(5_000) } });
  expectStatus(await call('POST', `${at.path}/associations/set`, { mount: at.mount, secret_name: 'a' }), 200);
  await call('POST', `${at.path}/associations/set`, { mount: at.mount, secret_name: 'b' });
  await call('POST', 'sys/sync/destinations/cloudA-sm/leaky', {
    access_key_id: 'A',
    secret_access_key: canary,
    region: canary.repeat(30),
  });
  await call('POST', 'sys/sync/destinations/cloudA-sm/leaky', {
    access_key_id: 'A',
    secret_access_key: canary,
    region: 'eu-west-1',
  });
  await call('POST', 'sys/sync/destinations/cloudA-sm/leaky/associations/set', {
    mount: at.mount,
    secret_name: 'a',
  });
  await call('POST', 'sys/auth/canary', { type: 'cloudB' });
  await call('POST', 'auth/canary/config', {
    tenant_id: 'ffffffff-0000-4000-8000-000000000000',
    resource: 'https://r',
    client_id: 'c',
    client_secret: canary,
  });
  await call('POST', 'auth/canary/login', { role: 'none', jwt: canary });
  await system.as(canary)('GET', `${at.mount}/data/a`);
  await system.fault({ effect: 'error', code: 'AccessDeniedException', status: 400, message: canary });
  await call('POST', `${at.path}/associations/set`, { mount: at.mount, secret_name: 'a' });
  await call('GET', `${at.path}/associations`);

  expect(
    await eventually(async () => (await system.outside())[`secrets/${at.accessor}/a`]?.value, Boolean),
  ).toContain(canary);
  const calls = await send(`${system.service.sandboxUrl}/_sandbox/calls`, 'GET');
  const looked = {
    answers: answers.join('\n'),
    calls: JSON.stringify(calls.body),
    files: filesOf(system.service.dataDir!),
    processes: processArguments(),
  };
  for (const [where, text] of Object.entries(looked)) {
    expect({ where, found: text.includes(canary) || text.includes(inBase64) }).toEqual({
      where,
      found: false,
    });
  }
});

/** Everything on disk but the sandbox's own journal: the database with its log, keys, audit, broker. */
function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile() && !file.endsWith('sandbox.jsonl'))
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
}

const processArguments = (): string =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8', maxBuffer: 1e8 });
