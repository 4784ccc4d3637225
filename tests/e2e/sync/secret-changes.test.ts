import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, eventuallyEqual } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { associatedSecrets, SyncFixture } from '../../harness/sync-fixture.ts';
import { useInstallation } from '../use-installation.ts';

const system = useInstallation();
let at: SyncFixture;

beforeEach(async () => {
  await system.sandbox.clearFaults();
  at = await SyncFixture.create(system);
});

describe('a change of a secret', () => {
  test('is synced: a new version and a patch', async () => {
    await at.sync('a', { k: '1' });
    await at.write('a', { k: '2' });
    await at.untilValue('a', '{"k":"2"}');
    await system.api('PATCH', `${at.mount}/data/a`, { data: { l: '3' } });
    await at.untilValue('a', '{"k":"2","l":"3"}');
    await at.untilStatus('a', 'SYNCED');
  });

  test('is waited for by the script of a pipeline in docs/conventions/sync.md', async () => {
    await at.sync('shop/db', { password: 'old' });
    const page = readFileSync(new URL('../../../docs/conventions/sync.md', import.meta.url), 'utf8');
    const [, script] = /## Waiting for a version\n.*?```sh\n(.*?)```/s.exec(page)!;
    const inMount = script!.replaceAll('/secret/', `/${at.mount}/`).replaceAll('answer.json', '"$ANSWER"');
    const env = { ...process.env, TOKEN: system.rootToken, ADDR: system.url, ANSWER: '/dev/null' };
    await promisify(execFile)('sh', ['-euc', inMount], { env, timeout: 60_000 });
    expect(await at.value('shop/db')).toBe('{"password":"new"}');
  });

  test('that leaves the value unchanged is not sent to the store', async () => {
    await at.sync('a', { k: '1' });
    const before = (await at.association('a'))!.updated_at;
    const writes = async () =>
      (await system.sandbox.calls()).filter(
        ({ operation, name }) => operation === 'PutSecretValue' && name === at.externalName('a'),
      ).length;
    await at.write('a', { k: '1' });
    await eventually(
      () => at.association('a'),
      (one) => one?.sync_status === 'SYNCED' && one.updated_at !== before,
    );
    expect(await writes()).toBe(0);
    await at.write('a', { k: '2' });
    await at.untilValue('a', '{"k":"2"}');
    expect(await writes()).toBe(1);
  });

  test('that creates a secret which a rule matches is synced, and the rule removes it again', async () => {
    const rule = `${at.path}/rules/r`;
    const named = { path: 'team/*', value_key: 'k' };
    expectStatus(await system.api('POST', rule, { mount: at.mount, ...named }), 200);
    await at.write('team/a', { k: '1', l: '1' });
    await at.untilValue('team/a', '1');
    await at.write('team/a', { k: '2', l: '1' });
    await at.untilValue('team/a', '2');
    await at.write('other', { k: '1' });
    expectStatus(await system.api('DELETE', rule), 204);
    await eventually(
      () => at.value('team/a'),
      (value) => value === undefined,
    );
    expect(await at.association('other')).toBeUndefined();
  });

  test('that deletes versions syncs the newest one left, or removes the secret; undelete restores it', async () => {
    await at.sync('a', { v: 1 });
    await at.write('a', { v: 2 });
    await at.untilValue('a', '{"v":2}');
    await system.api('DELETE', `${at.mount}/data/a`);
    await at.untilValue('a', '{"v":1}');
    await system.api('POST', `${at.mount}/delete/a`, { versions: [1] });
    await at.untilValue('a', undefined);
    await at.untilStatus('a', 'UNSYNCED');
    await system.api('POST', `${at.mount}/undelete/a`, { versions: [2] });
    await at.untilValue('a', '{"v":2}');
  });

  test('that deletes its metadata removes it from the store, with the association', async () => {
    await at.sync('a', { v: 1 });
    await system.api('DELETE', `${at.mount}/metadata/a`);
    await eventuallyEqual(() => at.associations(), {});
    expect(await at.value('a')).toBeUndefined();
  });

  test('that disables its mount removes it from the store, with the association', async () => {
    await at.sync('a', { v: 1 });
    await at.sync('b', { v: 2 });
    const { body } = expectStatus(await system.api('DELETE', `sys/mounts/${at.mount}`), 200);
    expect(body.warnings).toEqual([
      expect.stringMatching(/^2 external secrets of this mount will be removed/),
    ]);
    await eventuallyEqual(() => at.associations(), {});
    expect([await at.value('a'), await at.value('b')]).toEqual([undefined, undefined]);
  });
});

describe('secret-key granularity', () => {
  beforeEach(async () => {
    at = await SyncFixture.create(system, { granularity: 'secret-key' });
  });

  test('creates one external secret per key, with strings unquoted, and deletes those of removed keys', async () => {
    await at.write('a', { text: 'x', number: 1 });
    const { body } = expectStatus(await at.setAndWait('a'), 200);
    expect(Object.keys(body.data.associated_secrets).sort()).toEqual([
      `${at.accessor}/a/number`,
      `${at.accessor}/a/text`,
    ]);
    expect([await at.value('a/text'), await at.value('a/number')]).toEqual(['x', '1']);
    await at.write('a', { text: 'y', added: true });
    await at.untilValue('a/added', 'true');
    await at.untilValue('a/number', undefined);
    await at.untilValue('a/text', 'y');
    expectStatus(await at.removeAndWait('a'), 200);
    expect(await at.value('a/text')).toBeUndefined();
  });

  test('refuses to set a secret with an empty key, and reports an empty key that is added later', async () => {
    await at.write('a', { '': 'x', named: 'y' });
    const { body } = expectStatus(await at.set('a'), 400);
    expect(body.errors[0]).toMatch(/^secret_name: a in mount .* has a key that is the empty string/);
    await at.write('a', { named: 'y' });
    expectStatus(await at.setAndWait('a'), 200);
    await at.write('a', { '': 'x', named: 'z', later: 'l' });
    await at.untilValue('a/later', 'l');
    await at.untilValue('a/named', 'z');
    const names = Object.keys(await system.sandbox.secrets());
    const own = names.filter((name) => name.startsWith(`secrets/${at.accessor}/`));
    expect(own.sort()).toEqual([at.externalName('a/later'), at.externalName('a/named')]);
    expect((await at.association('a/'))?.sync_status).toBe('CLIENT_SIDE_ERROR');
  });
});

describe('a destination with a value_key', () => {
  beforeEach(async () => {
    at = await SyncFixture.create(system, { value_key: 'pass' });
    await at.sync('a', { pass: 'p', user: 'u' });
  });

  test('gets the text of this key, and none of the others', async () => {
    await at.write('a', { pass: 'q', user: 'u' });
    await at.untilValue('a', 'q');
  });

  test('keeps what it has while the key is missing, and says so', async () => {
    await at.write('a', { user: 'u' });
    await at.untilStatus('a', 'CLIENT_SIDE_ERROR');
    expect((await at.association('a'))?.last_error).toContain('the secret has no key pass');
    expect(await at.value('a')).toBe('p');
    await at.write('a', { pass: 'q' });
    await at.untilValue('a', 'q');
  });

  test('refuses to set a secret that does not have the key', async () => {
    await at.write('b', { user: 'u' });
    const { body } = expectStatus(await at.set('b'), 400);
    expect(body.errors[0]).toMatch(/^secret_name: b in mount .* has no key pass/);
  });

  test('pushes again when it changes', async () => {
    expectStatus(await system.api('PATCH', at.path, { value_key: 'user' }), 200);
    await at.untilValue('a', 'u');
    expectStatus(await system.api('PATCH', at.path, { value_key: '' }), 200);
    await at.untilValue('a', '{"pass":"p","user":"u"}');
  });
});

test('a new key with an invalid external name does not hold up the other keys, and reports why', async () => {
  at = await SyncFixture.create(system, {
    granularity: 'secret-key',
    secret_name_template: 'own/{{ .MountAccessor }}/{{ .SecretKey }}',
  });
  await at.write('a', { good: '1' });
  expectStatus(await at.setAndWait('a'), 200);
  await at.write('a', { good: '2', 'not good': 'x', better: '3' });
  const named = async (key: string) => (await system.sandbox.secrets())[`own/${at.accessor}/${key}`]?.value;
  await eventuallyEqual(() => named('better'), '3');
  await eventuallyEqual(() => named('good'), '2');
  expect((await at.associations())[`${at.accessor}/a/not good`]).toMatchObject({
    sync_status: 'CLIENT_SIDE_ERROR',
    last_error: expect.stringMatching(/^the external name "own\/.*not good" cannot be used/),
  });
  const { body } = await system.api('GET', `sys/sync/associations/${at.mount}/a`);
  expect(Object.values(body.data.associated_destinations)).toEqual([
    expect.objectContaining({ sync_status: 'CLIENT_SIDE_ERROR' }),
  ]);
});

test('numbers are pushed digit for digit, of whole secrets and of single keys', async () => {
  const text = '{"id":9007199254740993,"price":1.10}';
  const writeText = (fixture: SyncFixture) =>
    fetch(`${system.url}/v1/${fixture.mount}/data/a`, {
      method: 'POST',
      headers: { 'x-service-token': system.rootToken, 'content-type': 'application/json' },
      body: `{"data":${text}}`,
    });
  await writeText(at);
  expectStatus(await at.setAndWait('a'), 200);
  expect(await at.value('a')).toBe(text);
  const keys = await SyncFixture.create(system, { granularity: 'secret-key' });
  await writeText(keys);
  expectStatus(await keys.setAndWait('a'), 200);
  expect([await keys.value('a/id'), await keys.value('a/price')]).toEqual(['9007199254740993', '1.10']);
});

describe('external names', () => {
  test('refuse a second association with the same name, with 409 that names the first', async () => {
    at = await SyncFixture.create(system, {
      secret_name_template: 'shared/{{ .SecretBaseName }}-{{ .MountAccessor }}',
    });
    await at.write('one/x', { a: 1 });
    await at.write('two/x', { a: 2 });
    expectStatus(await at.setAndWait('one/x'), 200);
    const { body } = expectStatus(await at.set('two/x'), 409);
    expect(body.errors[0]).toContain('one/x');
    expect(body.errors[0]).toContain(`shared/x-${at.accessor}`);
  });

  test('from a changed template apply when the secret is set again; the old secret is deleted', async () => {
    await at.sync('a', { v: 1 });
    expectStatus(
      await system.api('PATCH', at.path, {
        secret_name_template: 'new/{{ .MountAccessor }}/{{ .SecretPath }}',
      }),
      200,
    );
    expect(await at.value('a')).toBe('{"v":1}');
    expectStatus(await at.setAndWait('a'), 200);
    await at.untilValue('a', undefined);
    expect(Object.keys(await system.sandbox.secrets())).toContain(`new/${at.accessor}/a`);
  });

  test('of secrets that belong to another destination are left alone, by overwrite and by remove', async () => {
    await at.sync('a', { v: 'ours' });
    const other = await SyncFixture.create(system, { secret_name_template: at.externalName('a') });
    await other.write('b', { v: 'theirs' });
    for (const fields of [{}, { overwrite: true }])
      expect(Object.values(associatedSecrets(await other.setAndWait('b', fields)))).toEqual([
        expect.objectContaining({
          sync_status: 'CLIENT_SIDE_ERROR',
          last_error: expect.stringContaining('belongs to another destination'),
        }),
      ]);
    expectStatus(await other.removeAndWait('b'), 200);
    expect(await at.value('a')).toBe('{"v":"ours"}');
  });
});
