import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { errorCode } from '../../libs/domain/src/index.ts';
import { eventually } from '../harness/eventually.ts';
import { type Api, expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { descriptions } from '../harness/processes.ts';
import { SyncFixture } from '../harness/sync-fixture.ts';

/** Planted in every secret field. Random, because the arguments of all processes of the machine are searched for it. */
const canary = `canary-${randomBytes(4).toString('hex')}`;
const inBase64 = Buffer.from(canary).toString('base64').slice(2, 20);

let system: Installation;

beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());

test('a secret value appears in no answer, log, file, call log or argument list', async () => {
  const answers: string[] = [];
  const call: Api = async (method, path, body) => {
    const answer = await system.api(method, path, body);
    answers.push(JSON.stringify(answer.body) ?? '');
    return answer;
  };
  const at = await SyncFixture.create(system);
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
  await call('POST', 'sys/auth/canary-cluster', { type: 'kubernetes' });
  for (const kubernetes_host of ['https://cluster.example', canary])
    await call('POST', 'auth/canary-cluster/config', { kubernetes_host, token_reviewer_jwt: canary });
  await call('GET', 'auth/canary-cluster/config');
  await call('POST', 'auth/canary-cluster/login', { role: 'none', jwt: canary });
  await system.as(canary)('GET', `${at.mount}/data/a`);
  await at.untilStatus('a', 'SYNCED');
  await system.sandbox.fault({
    effect: 'error',
    code: 'AccessDeniedException',
    status: 400,
    message: canary,
  });
  await call('POST', `${at.path}/associations/set`, { mount: at.mount, secret_name: 'a' });
  await call('GET', `${at.path}/associations`);

  const synced = await eventually(() => at.value('a'), Boolean);
  expect(synced).toContain(canary);
  const searched = {
    answers: answers.join('\n'),
    calls: JSON.stringify(await system.sandbox.calls()),
    files: filesOf(system.dataDir),
    processes: descriptions().join('\n'),
  };
  for (const [where, text] of Object.entries(searched)) {
    expect({ where, length: text.length > 100 }).toEqual({ where, length: true });
    expect({ where, found: text.includes(canary) || text.includes(inBase64) }).toEqual({
      where,
      found: false,
    });
  }
});

/** The content of every file except the sandbox's journal: database, keys, audit. */
function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => !file.endsWith('sandbox.jsonl'))
    .map(contentOf)
    .join('\n');
}

/** Empty if it is not a file, or if the database has removed it meanwhile. */
function contentOf(file: string): string {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'latin1') : '';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
