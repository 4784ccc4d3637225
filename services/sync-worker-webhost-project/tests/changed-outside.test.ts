import { beforeEach, describe, expect, test } from '@jest/globals';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { put, putNew, remove, records } = driver;
type Entry = Awaited<ReturnType<typeof putNew>>;

const ids = (name: string) => driver.harness.held(name).map(({ tags }) => tags.id!);
const edit = (id: string, change: object) => driver.harness.stranger('PATCH', `/${id}`, change);
const wanted = (value: string) => [`encrypted preview,production: ${value}`];

let entry: Entry;
let id: string;
beforeEach(async () => {
  entry = await putNew();
  [id] = ids(entry.name) as [string];
});

/** Changes that somebody else makes to the record of the destination. */
const changes: [string, () => Promise<unknown>][] = [
  ['tied to a branch', () => edit(id, { target: ['preview'], gitBranch: 'feature' })],
  ['taken from production', () => edit(id, { target: ['preview'] })],
  ['moved to another environment', () => edit(id, { target: ['development'] })],
  ['renamed', () => edit(id, { key: `${entry.name}_OLD` })],
  ['renamed, with another comment', () => edit(id, { key: `${entry.name}_OLD`, comment: 'mine' })],
  ['renamed and tied to a branch', () => edit(id, { key: 'OTHER', target: ['preview'], gitBranch: 'b' })],
];

describe.each(changes)('a record that was %s', (_, change) => {
  const isRepaired = (value: string) => {
    const held = driver.harness.held(entry.name);
    expect(held.map(({ tags }) => tags.gitBranch)).toEqual([undefined]);
    const ours = ['preview', 'production'];
    expect(
      held[0]!.tags
        .target!.split(',')
        .filter((one) => ours.includes(one))
        .sort(),
    ).toEqual(ours);
    expect(held[0]!.value).toBe(value);
    const others = driver.harness.sandbox.webhost.secrets().filter(({ name }) => /OLD|OTHER/.test(name));
    expect(others).toEqual([]);
  };

  test('has the name, the environments and the value again after the next value', async () => {
    await change();
    await put(entry.next('two'));
    isRepaired('two');
  });

  test('has them again after a set', async () => {
    await change();
    await put(entry.verification);
    isRepaired('one');
  });

  test('is removed with the association', async () => {
    await change();
    const { remote } = entry;
    await remove(entry.name, remote);
    expect(driver.harness.sandbox.webhost.secrets().filter(({ tags }) => tags.id === id)).toEqual([]);
  });
});

describe('a record for a branch that was split off from the one of the destination', () => {
  const splitOff = (comment: string) =>
    driver.harness.plant({ key: entry.name, target: ['preview'], gitBranch: 'feature', comment });
  const commentOfOurs = () => driver.harness.held(entry.name)[0]!.tags.comment!;

  test('is removed by a set and with the association, if it has the comment', async () => {
    await splitOff(commentOfOurs());
    await put(entry.verification);
    expect(records(entry.name)).toEqual(wanted('one'));
    await splitOff(commentOfOurs());
    await remove(entry.name, entry.remote);
    expect(records(entry.name)).toEqual([]);
  });

  test('stays if it does not', async () => {
    await splitOff('mine');
    await put(entry.verification);
    await remove(entry.name, entry.remote);
    expect(records(entry.name)).toEqual(['encrypted preview: theirs']);
  });
});

test('a name that somebody else has taken after the record was renamed is a conflict, and no value is written', async () => {
  await edit(id, { key: `${entry.name}_MOVED` });
  await driver.harness.plant({ key: entry.name, target: ['production'] });
  await expect(put(entry.next('two'))).rejects.toMatchObject({ kind: 'conflict' });
  expect(records(entry.name)).toEqual(['encrypted production: theirs']);
  expect(records(`${entry.name}_MOVED`)).toEqual(wanted('one'));
});
