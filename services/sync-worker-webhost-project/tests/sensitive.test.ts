import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

describe('webhost-project 4: the type of a record', () => {
  const driver = useDriver();

  test('is encrypted by default, and an existing one is kept', async () => {
    const key = driver.harness.freshName();
    await driver.harness.plant({ key, type: 'sensitive', target: ['production'] });
    const request = putRequest(key, 'ours', { overwrite: true });
    const { remote } = await driver.put(request);
    expect(driver.records(key)).toEqual(['sensitive preview,production: ours']);
    await driver.put({ ...request, value: putRequest('', 'two!').value, remote });
    expect(driver.records(key)).toEqual(['sensitive preview,production: two!']);
  });

  test('a sensitive record that is taken over does not get development, which gets a record of its own', async () => {
    const key = driver.harness.freshName();
    await driver.harness.plant({ key, type: 'sensitive', target: ['production'] });
    const all = await driver.forEnvironments('development', 'preview', 'production');
    const { remote } = await driver.put(putRequest(key, 'ours', { overwrite: true }), all);
    expect(driver.records(key)).toEqual([
      'encrypted development: ours',
      'sensitive preview,production: ours',
    ]);
    await driver.remove(key, remote, all);
    expect(driver.records(key)).toEqual([]);
  });
});

describe('webhost-project 4: where a team enforces sensitive variables', () => {
  const driver = useDriver({}, 'sandbox-strict');
  const everywhere = () => driver.forEnvironments('development', 'preview', 'production');

  test('production and preview are kept separate from development, in two records', async () => {
    const all = await everywhere();
    const request = putRequest(driver.harness.freshName(), 'one');
    driver.harness.calls();
    const { remote } = await driver.put(request, all);
    const both = ['encrypted development: one', 'sensitive preview,production: one'];
    expect(driver.records(request.externalName)).toEqual(both);
    expect(driver.harness.calls()).toEqual([
      'filterProjectEnvs',
      'createProjectEnv', // refused: a sensitive variable is not for development
      'filterProjectEnvs',
      'createProjectEnv',
    ]);
    await driver.put({ ...request, value: putRequest('', 'two').value, remote }, all);
    expect(driver.harness.calls()).toEqual(['editProjectEnv', 'editProjectEnv']);
    expect(driver.records(request.externalName)).toEqual(both.map((record) => record.replace('one', 'two')));
    await driver.remove(request.externalName, remote, all);
    expect(driver.records(request.externalName)).toEqual([]);
  });

  test('the destination remembers it for its other variables', async () => {
    const all = await everywhere();
    await driver.put(putRequest(driver.harness.freshName(), 'one'), all);
    driver.harness.calls();
    await driver.put(putRequest(driver.harness.freshName(), 'one'), all);
    expect(driver.harness.calls()).toEqual(['filterProjectEnvs', 'createProjectEnv']);
  });

  test('a record that was created before the policy is divided by the next value', async () => {
    const key = driver.harness.freshName();
    const { webhost } = driver.harness.sandbox;
    const projectId = webhost.projects.find(({ name }) => name === 'sandbox-strict')!.id;
    const comment = `secrets-destination: 5b0a6c3e-0000-4000-8000-000000000001`;
    const target = ['production', 'preview', 'development'] as ('production' | 'preview' | 'development')[];
    const { id, updatedAt } = webhost.plant({ key, value: 'one', projectId, comment, target });
    const remote = { name: key, bytes: 3, records: [{ id, target, updatedAt }] };
    await driver.put(putRequest(key, 'two', { remote }), await everywhere());
    expect(driver.records(key)).toEqual(['encrypted development: two', 'sensitive preview,production: two']);
    expect(driver.harness.held(key).map(({ tags }) => tags.id)).toContain(id);
  });

  test('webhost-project 1: a 201 that lists a failure is one, and the next attempt continues', async () => {
    const all = await everywhere();
    await driver.put(putRequest(driver.harness.freshName(), 'one'), all); // learns the policy
    const request = putRequest(driver.harness.freshName(), 'one');
    await driver.harness.plant({ key: request.externalName, target: ['development'] });
    driver.harness.sandbox.webhost.faults.add({ effect: 'stale-list', ms: 60_000, times: 1 });
    await expect(driver.put(request, all)).rejects.toMatchObject({
      kind: 'not_ready',
      message: expect.stringContaining('the name was just taken in one of the environments'),
    });
    expect(driver.records(request.externalName)).toEqual([
      'encrypted development: theirs',
      'sensitive preview,production: one',
    ]);
    await expect(driver.put(request, all)).rejects.toMatchObject({ kind: 'conflict' });
    await driver.put({ ...request, overwrite: true }, all);
    expect(driver.records(request.externalName)).toEqual([
      'encrypted development: one',
      'sensitive preview,production: one',
    ]);
  });

  test('a put that is refused after a part of it was written keeps its start', async () => {
    const all = await everywhere();
    await driver.put(putRequest(driver.harness.freshName(), 'one'), all); // learns the policy
    const starts: unknown[] = [];
    const recordStart = async (options?: object) => void starts.push(options);
    const request = putRequest(driver.harness.freshName(), 'ours', { overwrite: true, recordStart });
    await driver.harness.plant({ key: request.externalName, target: ['preview', 'production'] });
    driver.failWith('createProjectEnv', 'forbidden', 403);
    await expect(driver.put(request, all)).rejects.toMatchObject({ kind: 'forbidden' });
    expect(driver.records(request.externalName)).toEqual([expect.stringMatching(/production: ours$/)]);
    expect(starts).toEqual([{ inParts: true }]);
  });

  test('another bad request is not repeated forever', async () => {
    driver.failWith('createProjectEnv', 'BAD_REQUEST');
    driver.harness.calls();
    const request = putRequest(driver.harness.freshName(), 'one');
    await expect(driver.put(request, await everywhere())).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('the request was rejected (BAD_REQUEST)'),
    });
    expect(driver.harness.calls().filter((call) => call === 'createProjectEnv')).toHaveLength(2);
  });
});
