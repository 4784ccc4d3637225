import { beforeEach, expect, test } from '@jest/globals';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';
import { mayEverything, type RulesForTest, rulesOf } from './rules-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
let rules: RulesForTest;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
  rules = rulesOf(sync, at, await mayEverything(sync));
});

const holdersOf = async (name: string) => {
  const { body } = await sync.call('GET', `/sys/sync/associations/${at.mount}/${name}`);
  const shown: { held_by_hand: boolean; held_by_rules: string[] } =
    body.data.associated_destinations[`cloudA-sm/${at.name}`];
  return { held_by_hand: shown.held_by_hand, held_by_rules: shown.held_by_rules };
};

test('where a secret is synced shows what holds each association', async () => {
  for (const name of ['a', 'b', 'c']) await at.write(name, { v: 1 });
  await at.set('a');
  await at.set('b');
  await rules.accept('two', { path: '+', exclude: ['a'] });
  await rules.upToDate('two');
  await rules.accept('one', { path: 'c' });
  await rules.upToDate('one');
  expect(await holdersOf('a')).toEqual({ held_by_hand: true, held_by_rules: [] });
  expect(await holdersOf('b')).toEqual({ held_by_hand: true, held_by_rules: ['two'] });
  expect(await holdersOf('c')).toEqual({ held_by_hand: false, held_by_rules: ['one', 'two'] });
});
