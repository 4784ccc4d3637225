import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();

const inspect = async (name: string, remote: Json | null) =>
  (await driver.connect()).inspect(
    { ...putRequest(name, ''), remote, isSameValue: (value) => value.reveal() === 'one' },
    AbortSignal.timeout(60_000),
  );
const idOf = (name: string) => driver.harness.held(name)[0]!.tags.id!;

test('a deleted variable is missing although another record of its name is for an environment of somebody else', async () => {
  const { name, remote } = await driver.putNew();
  await driver.harness.stranger('DELETE', `/${idOf(name)}`);
  await driver.harness.plant({ key: name, target: ['development'] });
  expect(await inspect(name, remote)).toEqual({ exists: false });
});

test('a record of the name for the same environment is foreign after the variable was deleted', async () => {
  const { name, remote } = await driver.putNew();
  await driver.harness.stranger('DELETE', `/${idOf(name)}`);
  await driver.harness.plant({ key: name, target: ['production', 'development'] });
  expect(await inspect(name, remote)).toMatchObject({ belongs: 'none', value: 'different' });
});

test('a put beside a record for another environment succeeds', async () => {
  const { name, verification } = await driver.putNew();
  await driver.harness.stranger('DELETE', `/${idOf(name)}`);
  await driver.harness.plant({ key: name, target: ['development'] });
  await driver.put(verification);
  expect(driver.records(name)).toHaveLength(2);
});

describe('a variable with the value of the last put', () => {
  const changedBy = async (change: object) => {
    const { name, remote, verification } = await driver.putNew();
    await driver.harness.stranger('PATCH', `/${idOf(name)}`, change);
    return { name, remote, verification };
  };

  test.each([
    ['was taken out of production', { target: ['preview'] }],
    ['was tied to a branch', { target: ['preview'], gitBranch: 'feature' }],
    ['was made readable', { type: 'plain' }],
  ])('is changed if it %s, and the next put restores it', async (_, change) => {
    const { name, remote, verification } = await changedBy(change);
    const look = await inspect(name, remote);
    expect(look).toMatchObject({ exists: true, belongs: 'own', isUntouched: false, value: 'different' });
    expect(look).not.toHaveProperty('remote');
    const restored = await driver.put(verification);
    expect(driver.records(name)).toEqual(['encrypted preview,production: one']);
    expect(await inspect(name, restored.remote)).toMatchObject({ isUntouched: true });
  });

  test('is unchanged with another comment, or for further environments', async () => {
    const { name, remote } = await changedBy({
      comment: 'mine',
      target: ['preview', 'production', 'development'],
    });
    expect(await inspect(name, remote)).toMatchObject({ value: 'same', remote: expect.anything() });
  });

  test('is missing if it was renamed, and the next put restores it', async () => {
    const { name, remote, verification } = await changedBy({ key: 'RENAMED' });
    expect(await inspect(name, remote)).toEqual({ exists: false });
    await driver.put(verification);
    expect(driver.records(name)).toEqual(['encrypted preview,production: one']);
    expect(driver.records('RENAMED')).toEqual([]);
  });

  test('is foreign if it was renamed, and somebody else has taken the name', async () => {
    const { name, remote } = await changedBy({ key: 'MOVED' });
    await driver.harness.plant({ key: name, value: 'one', target: ['production'] });
    const look = await inspect(name, remote);
    expect(look).toMatchObject({ exists: true, belongs: 'none' });
    expect(look).not.toHaveProperty('remote');
  });
});
