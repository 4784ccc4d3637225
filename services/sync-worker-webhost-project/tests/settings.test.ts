import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connectWith, putNew, records } = driver;

const branchOnly = { deployment_environments: ['preview'], git_branch: 'feature' };

/** Settings, with the records of a value `one` that they lead to. */
const all: [string, Record<string, unknown>, string[]][] = [
  ['the default', {}, ['encrypted preview,production: one']],
  ['sensitive', { sensitive: true }, ['sensitive preview,production: one']],
  [
    'custom environments',
    { custom_environment_ids: ['env_staging', 'env_qa'] },
    ['encrypted env_qa,env_staging,preview,production: one'],
  ],
  [
    'a custom environment only',
    { deployment_environments: [], custom_environment_ids: ['env_qa'], sensitive: true },
    ['sensitive env_qa: one'],
  ],
  ['a branch', branchOnly, ['encrypted preview feature: one']],
  ['another branch', { ...branchOnly, git_branch: 'b' }, ['encrypted preview b: one']],
];

/** The records of a name, with their branch. */
const shown = (name: string) =>
  driver.harness
    .held(name)
    .map(({ tags, value }) =>
      [`${tags.type} ${tags.target!.split(',').sort().join()}`, tags.gitBranch]
        .filter((part) => part !== undefined)
        .join(' ')
        .concat(`: ${value}`),
    )
    .sort();

describe.each(all)('with %s', (_, settings, wanted) => {
  test('a new variable is stored so, and nothing is left of it after a removal', async () => {
    const destination = await connectWith({ settings });
    const { name, remote } = await putNew(destination);
    expect(shown(name)).toEqual(wanted);
    await driver.remove(name, remote, destination);
    expect(shown(name)).toEqual([]);
  });

  test.each(all)('a variable that was pushed with %s follows, without a new value', async (_, before) => {
    const { name, unchanged } = await putNew(await connectWith({ settings: before }));
    const destination = await connectWith({ settings });
    const { remote } = await driver.put(unchanged, destination);
    expect(shown(name)).toEqual(wanted);
    driver.harness.calls();
    await driver.put({ ...unchanged, remote }, destination);
    expect(driver.harness.calls()).toEqual([]);
  });
});

describe('what somebody changes in a variable', () => {
  const edit = (name: string, change: object) =>
    driver.harness.stranger('PATCH', `/${driver.harness.held(name)[0]!.tags.id}`, change);

  test.each<[string, Record<string, unknown>, object]>([
    ['the branch', branchOnly, { gitBranch: null }],
    ['another branch', branchOnly, { gitBranch: 'b' }],
    ['custom environments', { custom_environment_ids: ['env_qa'] }, { customEnvironmentIds: [] }],
    ['the type', {}, { type: 'plain' }],
  ])('is restored by the next value and by a set: %s', async (_, settings, change) => {
    const destination = await connectWith({ settings });
    const entry = await putNew(destination);
    const wanted = shown(entry.name);
    await edit(entry.name, change);
    await driver.put(entry.verification, destination);
    expect(shown(entry.name)).toEqual(wanted);
    await edit(entry.name, change);
    await driver.put(entry.next('two'), destination);
    expect(shown(entry.name)).toEqual(wanted.map((record) => record.replace('one', 'two')));
  });

  test('stays if it is not ours: further environments, and a comment beside ours', async () => {
    const entry = await putNew();
    const { tags } = driver.harness.held(entry.name)[0]!;
    await edit(entry.name, { customEnvironmentIds: ['env_qa'], comment: `mine. ${tags.comment}` });
    await driver.put(entry.next('two'));
    await driver.put({ ...entry.verification, value: putRequest('', 'two').value });
    expect(shown(entry.name)).toEqual(['encrypted env_qa,preview,production: two']);
    expect(driver.harness.held(entry.name)[0]!.tags.comment).toBe(`mine. ${tags.comment}`);
    await driver.remove(entry.name, entry.remote);
    expect(shown(entry.name)).toEqual(['encrypted env_qa: two']);
  });

  test('stays if it was there before: the comment of a variable that is taken over, and the record for a branch', async () => {
    const key = driver.harness.freshName();
    await driver.harness.plant({ key, comment: 'theirs', target: ['production'] });
    await driver.harness.plant({ key, gitBranch: 'feature', target: ['preview'] });
    await driver.put(
      putRequest(key, 'ours', { overwrite: true }),
      await connectWith({ settings: { sensitive: true } }),
    );
    expect(shown(key)).toEqual(['encrypted preview feature: theirs', 'sensitive preview,production: ours']);
    const [ours] = driver.harness.held(key).filter(({ tags }) => tags.type === 'sensitive');
    expect(ours!.tags.comment).toMatch(/^theirs \| .*\(changes are overwritten\)$/);
  });
});

test('a plain variable that is taken over becomes encrypted', async () => {
  const key = driver.harness.freshName();
  await driver.harness.plant({ key, type: 'plain', target: ['production'] });
  await driver.put(putRequest(key, 'ours', { overwrite: true }));
  expect(records(key)).toEqual(['encrypted preview,production: ours']);
});
