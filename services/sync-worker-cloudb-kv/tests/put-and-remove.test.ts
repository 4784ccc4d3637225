import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;

describe('cloudB-kv 3: a certificate', () => {
  test('is neither changed nor taken over nor removed', async () => {
    const name = driver.harness.freshName();
    driver.harness.sandbox.cloudB.importCertificate(name, 'PEM', 'main.vault.azure.net');
    for (const overwrite of [false, true])
      await expect(put(putRequest(name, 'ours', { overwrite }))).rejects.toMatchObject({
        kind: 'conflict',
        message: expect.stringContaining('belongs to a certificate'),
      });
    await remove(name);
    expect(driver.harness.held(name)).toMatchObject({ value: 'PEM', deleted_at: null });
    expect(driver.harness.calls()).not.toContain('SetSecret');
  });

  test.each(['application/x-pkcs12', 'application/x-pem-file'])(
    'is recognised by the content type %s, even in a secret of the destination',
    async (contentType) => {
      const { name, remote, next } = await putNew();
      await driver.harness.stranger.updateSecretProperties(name, '', { contentType });
      await expect(put(next('two'))).rejects.toMatchObject({ kind: 'conflict' });
      await remove(name, remote);
      expect(driver.harness.held(name)).toMatchObject({ value: 'one', deleted_at: null });
    },
  );
});

test('cloudB-kv 4: a disabled secret is reported after one call, and left as it is', async () => {
  const { name, next } = await putNew();
  await driver.harness.stranger.updateSecretProperties(name, '', { enabled: false });
  driver.harness.calls();
  await expect(put(next('two'))).rejects.toMatchObject({
    kind: 'rejected',
    message: 'Get: the secret is disabled in the vault (SecretDisabled); enable or delete it there',
  });
  expect(driver.harness.calls()).toEqual(['GetSecret']);
  expect(driver.harness.held(name)).toMatchObject({ value: 'one', deleted_at: null });
});

describe('a disabled secret', () => {
  test.each([true, false])(
    'of the destination is removed, with a remembered version: %p',
    async (isKnown) => {
      const { name, remote } = await putNew();
      await driver.harness.stranger.updateSecretProperties(name, '', {
        enabled: false,
        ...(isKnown ? { tags: {} } : {}),
      });
      await remove(name, isKnown ? remote : null);
      expect(driver.harness.held(name)).toBeUndefined();
    },
  );

  test('of somebody else, or of a certificate, is not removed', async () => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, 'theirs');
    await driver.harness.stranger.updateSecretProperties(name, '', { enabled: false });
    const certificate = driver.harness.freshName();
    driver.harness.sandbox.cloudB.importCertificate(certificate, 'PEM', 'main.vault.azure.net', false);
    for (const kept of [name, certificate]) {
      await remove(kept);
      expect(driver.harness.held(kept)?.deleted_at).toBeNull();
    }
  });
});

test('cloudB-kv 4: a secret is still ours if the version that was written is disabled, and repaired', async () => {
  const { name, request, remote } = await putNew();
  const { version } = remote as { version: string };
  await driver.harness.stranger.setSecret(name, 'drifted');
  await driver.harness.stranger.updateSecretProperties(name, version, { enabled: false });
  await put({ ...request, remote, valueChanged: false, verify: true });
  expect(driver.harness.held(name)).toMatchObject({ value: 'one', tags: { 'managed-by': 'secrets-sync' } });
});

test.each([
  ['SetSecret', 409, 'ObjectIsDeletedButRecoverable'],
  ['SetSecret', 404, 'SecretNotFound'],
  ['UpdateSecret', 404, 'SecretNotFound'],
])(
  'a secret that is deleted between the look and the write is not ready: %s fails with %i %s',
  async (operation, status, code) => {
    const { name, next, unchanged } = await putNew();
    const tagged = await connect({ custom_tags: { team: 'a' } });
    driver.failWith(operation, status, code);
    const request = operation === 'SetSecret' ? next('two') : unchanged;
    await expect(put(request, tagged)).rejects.toMatchObject({
      kind: 'not_ready',
      message: `"${name}" was just deleted`,
    });
    driver.harness.clear();
    await put(request, tagged);
    expect(driver.harness.held(name)?.tags).toMatchObject({ team: 'a' });
  },
);

test('cloudB-kv 5: names that differ only in case are one secret', async () => {
  const { name } = await putNew();
  await put(putRequest(name.toUpperCase(), 'two'));
  expect(driver.harness.held(name)?.value).toBe('two');
});

describe('cloudB-kv 6: tags', () => {
  const foreign = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, number) => [`theirs-${number}`, 'x']));

  test('say whose a secret is', async () => {
    const { name } = await putNew();
    expect(driver.harness.held(name)?.tags).toEqual({
      'managed-by': 'secrets-sync',
      'secrets-destination': '5b0a6c3e-0000-4000-8000-000000000001',
    });
  });

  test('of others are kept when tags or the value change', async () => {
    const tagged = await connect({ custom_tags: { team: 'a' } });
    const { name, request, remote, next } = await putNew(tagged);
    const present = driver.harness.held(name)?.tags ?? {};
    await driver.harness.stranger.updateSecretProperties(name, '', { tags: { ...present, theirs: 'x' } });
    const { remote: changed } = await put({ ...request, remote, valueChanged: false, verify: true });
    expect(driver.harness.held(name)?.tags).toMatchObject({ theirs: 'x', 'managed-by': 'secrets-sync' });
    expect(driver.harness.held(name)?.tags).not.toHaveProperty('team');
    await put({ ...next('two'), remote: changed });
    expect(driver.harness.held(name)).toMatchObject({ value: 'two', tags: { theirs: 'x' } });
  });

  test('that have changed do not make a secret foreign whose first put has lost its outcome', async () => {
    const request = putRequest(driver.harness.freshName(), 'one');
    driver.harness.sandbox.cloudB.faults.add({ effect: 'act-then-die', operation: 'SetSecret', times: 1 });
    const first = await connect({ custom_tags: { team: 'a' } });
    await expect(put(request, first)).rejects.toMatchObject({ kind: 'unavailable' });
    await put(request, await connect({ custom_tags: { team: 'b' } }));
    expect(driver.harness.held(request.externalName)).toMatchObject({
      value: 'one',
      version_count: 1,
      tags: { 'managed-by': 'secrets-sync', team: 'b' },
    });
    await remove(request.externalName, null, await connect());
    expect(driver.harness.held(request.externalName)).toBeUndefined();
  });

  test('are at most 15, the built-in and foreign ones included, and this is checked before a write', async () => {
    const { name, remote, next } = await putNew();
    const present = driver.harness.held(name)?.tags ?? {};
    await driver.harness.stranger.updateSecretProperties(name, '', { tags: { ...present, ...foreign(13) } });
    const tagged = await connect({ custom_tags: { team: 'a' } });
    driver.harness.calls();
    await expect(put({ ...next('two'), remote }, tagged)).rejects.toMatchObject({
      kind: 'rejected',
      message: 'the secret would have 16 tags, foreign ones included; a vault accepts 15',
    });
    expect(driver.harness.calls()).not.toContain('SetSecret');
  });
});

describe('cloudB-kv 7: calls', () => {
  test('a new secret and a new value take a read and a write', async () => {
    const { next } = await putNew();
    await put(next('two'));
    expect(driver.harness.calls()).toEqual(['GetSecret', 'SetSecret']);
  });

  test('a value that the vault has already is not written again', async () => {
    const { name, next } = await putNew();
    await put(next('one'));
    // The update, which changes nothing, shows whether the version that was read is still the newest one.
    expect(driver.harness.calls()).toEqual(['GetSecret', 'UpdateSecret']);
    expect(driver.harness.held(name)?.version_count).toBe(1);
  });

  test('a changed tag updates the newest version and creates none', async () => {
    const { name, request, remote } = await putNew();
    const tagged = await connect({ custom_tags: { team: 'a' } });
    await put({ ...request, remote, valueChanged: false }, tagged);
    expect(driver.harness.calls().filter((operation) => operation !== 'token')).toEqual(
      expect.arrayContaining(['UpdateSecret']),
    );
    expect(driver.harness.held(name)).toMatchObject({ version_count: 1, tags: { team: 'a' } });
  });
});

describe('a value that was changed from outside', () => {
  test('is repaired by a put with verify, although the new version has lost the tags', async () => {
    const { name, request, remote } = await putNew();
    await driver.harness.stranger.setSecret(name, 'drifted');
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(driver.harness.held(name)).toMatchObject({ value: 'one', tags: { 'managed-by': 'secrets-sync' } });
  });

  test('belongs to somebody else if the secret was purged and created again', async () => {
    const { name, request, remote, next } = await putNew();
    await driver.harness.stranger.beginDeleteSecret(name);
    await driver.harness.stranger.purgeDeletedSecret(name);
    await driver.harness.stranger.setSecret(name, 'theirs');
    await expect(put(next('two'))).rejects.toMatchObject({ kind: 'conflict' });
    await remove(request.externalName, remote);
    expect(driver.harness.held(name)).toMatchObject({ value: 'theirs', deleted_at: null });
  });

  test.each([false, true])('keeps what others have set, also when it was deleted: %p', async (isDeleted) => {
    const { name, next } = await putNew();
    const others = {
      contentType: 'text/plain',
      expiresOn: new Date('2027-06-01T00:00:00Z'),
      notBefore: new Date('2026-01-01T00:00:00Z'),
    };
    await driver.harness.stranger.updateSecretProperties(name, '', others);
    if (isDeleted) await driver.harness.stranger.beginDeleteSecret(name);
    await put(next('two'));
    const { value, properties } = await driver.harness.stranger.getSecret(name);
    expect({ value, ...properties }).toMatchObject({ value: 'two', ...others });
  });
});

describe('Common: unknown is not absent', () => {
  test.each([
    [403, 'ForbiddenByRbac', 'forbidden'],
    [404, 'VaultNotFound', 'rejected'],
    [500, 'InternalServerError', 'unavailable'],
  ])('a read that fails with %i %s leads to no deletion and no write', async (status, code, kind) => {
    const { name, remote, next } = await putNew();
    driver.failWith('GetSecret', status, code);
    await expect(remove(name, remote)).rejects.toMatchObject({ kind });
    await expect(put(next('two'))).rejects.toMatchObject({ kind });
    expect(driver.harness.held(name)).toMatchObject({ value: 'one', deleted_at: null });
  });
});

test('a conflict of concurrent writes is not ready', async () => {
  driver.failWith('SetSecret', 409, 'Conflict');
  await expect(put(putRequest(driver.harness.freshName(), 'x'))).rejects.toMatchObject({ kind: 'not_ready' });
});

test.each([
  ['the same text', '{"a":1,"b":2}'],
  ['JSON in another order', '{"b": 2, "a": 1}'],
])('a secret that is taken over is only marked if its value is equal: %s', async (_, theirs) => {
  const name = driver.harness.freshName();
  await driver.harness.plantForeign(name, theirs);
  const connected = await driver.connect();
  const request = putRequest(name, '{"a":1,"b":2}', { overwrite: true });
  driver.harness.calls();
  const { remote } = await driver.put(request, connected);
  const later = { ...request, remote, overwrite: false, valueChanged: false };
  await driver.put({ ...later, verify: true }, connected);
  await driver.put({ ...request, remote: null, overwrite: false }, connected); // as after a crash before the outcome was recorded
  await driver.put(later, await driver.connect({ custom_tags: { team: 'a' } }));
  expect(driver.harness.calls()).not.toContain('SetSecret');
  expect(driver.harness.held(name)).toMatchObject({ value: theirs, tags: { team: 'a' } });
  await driver.put({ ...putRequest(name, 'new'), entryId: request.entryId, remote }, connected);
  expect(driver.harness.held(name)?.value).toBe('new');
});
