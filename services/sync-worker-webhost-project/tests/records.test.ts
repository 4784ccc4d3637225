import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { destinationId } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { put, putNew, records, remove } = driver;
const plant = (record: Parameters<typeof driver.harness.plant>[0]) => driver.harness.plant(record);
const freshName = () => driver.harness.freshName();
const idOf = (name: string) => driver.harness.held(name)[0]?.tags.id;

describe('calls', () => {
  test('a new variable is looked for and created; a value that is not larger takes one call', async () => {
    const request = putRequest(freshName(), 'one');
    driver.harness.calls();
    const { remote } = await put(request);
    expect(driver.harness.calls()).toEqual(['filterProjectEnvs', 'createProjectEnv']);
    await put({ ...request, value: putRequest('', 'two').value, remote });
    expect(driver.harness.calls()).toEqual(['editProjectEnv']);
    expect(records(request.externalName)).toEqual(['encrypted preview,production: two']);
  });

  test('the comment of a record says which destination it belongs to', async () => {
    const { name } = await putNew();
    expect(driver.harness.held(name)[0]?.tags.comment).toBe(
      `managed-by: secrets-sync, secrets-destination: ${destinationId} (changes are overwritten)`,
    );
  });

  test('what is stored contains IDs and sizes, and no value', async () => {
    const { name, remote } = await putNew(undefined, 'canary');
    expect(remote).toEqual({
      name,
      bytes: 6,
      gitBranch: '',
      isSensitive: false,
      records: [{ id: idOf(name), target: ['preview', 'production'], updatedAt: expect.any(Number) }],
    });
  });
});

describe('webhost-project 2: a record with the same key', () => {
  test('that has the stored ID is edited, also if its comment was changed', async () => {
    const { name, next } = await putNew();
    await driver.harness.stranger('PATCH', `/${idOf(name)}`, { comment: 'our note' });
    await put(next('longer than before'));
    expect(records(name)).toEqual(['encrypted preview,production: longer than before']);
    expect(driver.harness.held(name)[0]?.tags.comment).toBe('our note');
  });

  test('that is marked as the destination is its own, although its ID was lost', async () => {
    const { name, request } = await putNew();
    await put({ ...request, value: putRequest('', 'two').value, remote: null });
    expect(records(name)).toEqual(['encrypted preview,production: two']);
  });

  test('that is foreign is a conflict, and nothing is written', async () => {
    const name = freshName();
    await plant({ key: name, target: ['production', 'development'] });
    driver.harness.calls();
    await expect(put(putRequest(name, 'ours'))).rejects.toMatchObject({
      kind: 'conflict',
      message: `"${name}" exists and does not belong to this destination; set "overwrite" to take it over`,
    });
    expect(driver.harness.calls()).toEqual(['filterProjectEnvs']);
    expect(records(name)).toEqual(['encrypted development,production: theirs']);
  });

  test('that is foreign and for other environments is not in the way', async () => {
    const name = freshName();
    await plant({ key: name, target: ['development'] });
    await put(putRequest(name, 'ours'));
    expect(records(name)).toEqual(['encrypted development: theirs', 'encrypted preview,production: ours']);
  });

  test('that is for one branch is not in the way, and stays', async () => {
    const name = freshName();
    await plant({ key: name, target: ['preview'], gitBranch: 'feature' });
    const { remote } = await put(putRequest(name, 'ours', { overwrite: true }));
    await remove(name, remote);
    expect(records(name)).toEqual(['encrypted preview: theirs']);
  });

  test('under overwrite gives up only the environments of the destination', async () => {
    const name = freshName();
    await plant({ key: name, target: ['production', 'development'] });
    await put(putRequest(name, 'ours', { overwrite: true }));
    expect(records(name)).toEqual(['encrypted development: theirs', 'encrypted preview,production: ours']);
  });

  test('under overwrite keeps the environments that the project defines itself', async () => {
    const name = freshName();
    await plant({ key: name, target: ['production'], customEnvironmentIds: ['env_staging'] });
    const { remote } = await put(putRequest(name, 'ours', { overwrite: true }));
    expect(records(name)).toEqual(['encrypted env_staging: theirs', 'encrypted preview,production: ours']);
    await remove(name, remote);
    expect(records(name)).toEqual(['encrypted env_staging: theirs']);
  });

  test('under overwrite is taken over if it is for environments of the destination only', async () => {
    const name = freshName();
    const id = await plant({ key: name, target: ['production'], comment: 'theirs' });
    const { remote } = await put(putRequest(name, 'ours', { overwrite: true }));
    expect(records(name)).toEqual(['encrypted preview,production: ours']);
    expect(idOf(name)).toBe(id);
    expect(driver.harness.held(name)[0]?.tags.comment).toContain(destinationId);
    await remove(name, remote);
    expect(records(name)).toEqual([]);
  });

  test('under overwrite, several records are taken over, each for its own environment', async () => {
    const name = freshName();
    for (const target of ['production', 'preview']) await plant({ key: name, target: [target] });
    await put(putRequest(name, 'ours', { overwrite: true }));
    expect(records(name)).toEqual(['encrypted preview: ours', 'encrypted production: ours']);
  });

  test('of another destination is never taken over, and the message says how to release it', async () => {
    const other = await driver.connectWith({ id: randomUUID() });
    const { name } = await putNew(other);
    await expect(put(putRequest(name, 'ours', { overwrite: true }))).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringMatching(/belongs to another destination.*remove the comment of the secret/),
    });
    expect(records(name)).toEqual(['encrypted preview,production: one']);
  });

  test('that a stale list does not show makes the put not ready; its owner decides later', async () => {
    const [foreign, own] = [freshName(), freshName()];
    await plant({ key: foreign });
    const request = putRequest(own, 'one');
    await put(request);
    driver.harness.sandbox.webhost.faults.add({ effect: 'stale-list', ms: 60_000 });
    const again = putRequest(foreign, 'ours');
    for (const lost of [again, { ...request, remote: null }])
      await expect(put(lost)).rejects.toMatchObject({ kind: 'not_ready' });
    driver.harness.clear();
    await expect(put({ ...again, putStartedAt: new Date() })).rejects.toMatchObject({ kind: 'conflict' });
    await put({ ...request, remote: null });
    expect(records(foreign)).toEqual(['encrypted preview,production: theirs']);
  });

  test.each(['ENV_CONFLICT', 'ENV_ALREADY_EXISTS'])('is recognised by the code %s', async (code) => {
    driver.failWith('createProjectEnv', code, code === 'ENV_CONFLICT' ? 400 : 403);
    await expect(put(putRequest(freshName(), 'x'))).rejects.toMatchObject({ kind: 'not_ready' });
  });
});

describe('webhost-project 3: the ID of a record is stored', () => {
  test('404 on edit: the variable is created again', async () => {
    const { name, next } = await putNew();
    await driver.harness.stranger('DELETE', `/${idOf(name)}`);
    await put(next('two'));
    expect(driver.harness.calls()).toEqual([
      'removeProjectEnv',
      'editProjectEnv',
      'filterProjectEnvs',
      'getProjectEnv', // the list may only be too old to show the record
      'editProjectEnv',
      'createProjectEnv',
    ]);
    expect(records(name)).toEqual(['encrypted preview,production: two']);
  });

  test('404 on delete is success, and so is a variable that is not in the list', async () => {
    const { name, remote } = await putNew();
    driver.failWith('removeProjectEnv', 'not_found', 404);
    await remove(name, remote);
    driver.harness.clear();
    await remove(name, remote);
    await remove(name, remote);
    expect(records(name)).toEqual([]);
  });

  test('a record that a stale list still shows is not ready', async () => {
    const { name, request, remote } = await putNew();
    await remove(name, remote);
    driver.failWith('editProjectEnv', 'not_found', 404);
    await put({ ...request, remote: null });
    await expect(put({ ...request, value: putRequest('', 'two').value, remote: null })).rejects.toMatchObject(
      {
        kind: 'not_ready',
        message: `"${name}" was just removed`,
      },
    );
  });
});

describe('webhost-project 5: when the environments of the destination change', () => {
  test('and reads are older than the last change, the record gets those of now, and nothing is left of it after a removal', async () => {
    const { name, unchanged } = await putNew();
    await sleep(1_100);
    driver.harness.lag(1_000);
    const narrow = await driver.forEnvironments('production');
    const narrowed = await put(unchanged, narrow);
    expect(records(name)).toEqual(['encrypted production: one']);
    const back = await put({ ...unchanged, remote: narrowed.remote });
    expect(records(name)).toEqual(['encrypted preview,production: one']);
    const again = await put({ ...unchanged, remote: back.remote }, narrow);
    await remove(name, again.remote, narrow);
    expect(records(name)).toEqual([]);
  });

  test('the target of the record changes, its value and ID do not', async () => {
    const { name, unchanged } = await putNew();
    const id = idOf(name);
    const wider = await driver.forEnvironments('development', 'preview', 'production');
    const { remote } = await put(unchanged, wider);
    expect(driver.harness.calls()).toEqual(['filterProjectEnvs', 'editProjectEnv']);
    expect(records(name)).toEqual(['encrypted development,preview,production: one']);
    await put({ ...unchanged, remote }, await driver.forEnvironments('development'));
    expect(driver.harness.held(name)).toMatchObject([
      { version_count: 1, tags: { id, target: 'development' } },
    ]);
  });

  test('an environment that somebody else has added to the record stays', async () => {
    const { name, unchanged, remote } = await putNew();
    await driver.harness.stranger('PATCH', `/${idOf(name)}`, {
      target: ['production', 'preview', 'development'],
    });
    const moved = await put(unchanged, await driver.forEnvironments('production'));
    expect(records(name)).toEqual(['encrypted development,production: one']);
    await remove(name, moved.remote ?? remote, await driver.forEnvironments('production'));
    expect(records(name)).toEqual(['encrypted development: one']);
  });

  test('an environment in which somebody has the same key is a conflict', async () => {
    const { name, unchanged } = await putNew();
    await plant({ key: name, target: ['development'] });
    const wider = await driver.forEnvironments('development', 'production');
    await expect(put(unchanged, wider)).rejects.toMatchObject({ kind: 'conflict' });
    expect(records(name)).toHaveLength(2);
  });

  test('two records that were taken over become one again, without a gap', async () => {
    const name = freshName();
    for (const target of ['production', 'preview']) await plant({ key: name, target: [target] });
    const request = putRequest(name, 'ours', { overwrite: true });
    const { remote } = await put(request);
    await put({ ...request, remote, valueChanged: false }, await driver.forEnvironments('production'));
    expect(records(name)).toEqual(['encrypted production: ours']);
  });
});

describe('webhost-project 6: variables of the system and of integrations', () => {
  test.each([
    ['the system', { type: 'system' as const }],
    ['an integration', { configurationId: 'icfg_1' }],
  ])('of %s are never touched, not even with overwrite', async (_, over) => {
    const name = freshName();
    driver.harness.sandbox.webhost.plant({ key: name, value: 'theirs', ...over });
    for (const overwrite of [false, true])
      await expect(put(putRequest(name, 'ours', { overwrite }))).rejects.toMatchObject({
        kind: 'conflict',
        message: `"${name}" is managed by the provider or by an integration and is not changed`,
      });
    await remove(name);
    expect(driver.harness.held(name)).toMatchObject([{ value: 'theirs' }]);
  });
});

describe('webhost-project 9: unsync', () => {
  test('removes the record if no environment is left, and otherwise the environments of the destination', async () => {
    const [alone, shared] = [await putNew(), await putNew()];
    await driver.harness.stranger('PATCH', `/${idOf(shared.name)}`, {
      target: ['production', 'preview', 'development'],
    });
    for (const { name, remote } of [alone, shared]) await remove(name, remote);
    expect(records(alone.name)).toEqual([]);
    expect(records(shared.name)).toEqual(['encrypted development: one']);
  });

  test('also removes a record that a stale list does not show yet, by its ID', async () => {
    const { name, remote } = await putNew();
    driver.harness.sandbox.webhost.faults.add({ effect: 'stale-list', ms: 60_000 });
    await remove(name, remote);
    expect(records(name)).toEqual([]);
  });

  test('leaves environments that somebody added to a record that a stale list does not show yet', async () => {
    const { name, remote } = await putNew();
    await driver.harness.stranger('PATCH', `/${idOf(name)}`, {
      target: ['production', 'preview', 'development'],
    });
    driver.harness.sandbox.webhost.faults.add({ effect: 'stale-list', ms: 60_000 });
    await remove(name, remote);
    expect(records(name)).toEqual(['encrypted development: one']);
  });

  test('Common: deletes nothing if the list cannot be read', async () => {
    const { name, remote } = await putNew();
    driver.failWith('filterProjectEnvs', 'forbidden', 403);
    await expect(remove(name, remote)).rejects.toMatchObject({ kind: 'forbidden' });
    expect(records(name)).toHaveLength(1);
  });
});

describe('a put with verify', () => {
  test('repairs a value and environments that were changed from outside', async () => {
    const { name, verification } = await putNew();
    await driver.harness.stranger('PATCH', `/${idOf(name)}`, { value: 'drifted', target: ['development'] });
    await put(verification);
    expect(records(name)).toEqual(['encrypted development,preview,production: one']);
  });
});

describe('the size of a deployment', () => {
  test('Common: counts the names and the plain values of others, and the message states size and limit', async () => {
    const crowded = driver.harness.sandbox.webhost;
    const before = crowded.secrets().length;
    crowded.plant({ key: 'PLAIN', value: 'x'.repeat(60_000), type: 'plain', target: ['production'] });
    crowded.plant({
      key: 'BRANCH',
      value: 'x'.repeat(60_000),
      type: 'plain',
      target: ['preview'],
      gitBranch: 'a',
    });
    const request = putRequest(freshName(), 'y'.repeat(6_000));
    await expect(put(request)).rejects.toMatchObject({
      kind: 'full',
      message: expect.stringMatching(
        /^with this value of 6000 bytes, the variables for production have at least 66\d{3} bytes; a deployment accepts at most 65536$/,
      ),
    });
    await put(request, await driver.forEnvironments('preview'));
    const { next, name } = await putNew();
    await expect(put(next('y'.repeat(6_000)))).rejects.toMatchObject({ kind: 'full' });
    expect(records(name)).toEqual(['encrypted preview,production: one']);
    expect(crowded.secrets().length).toBe(before + 4);
  });
});
