import { expect, test } from '@jest/globals';
import { rememberScopeMembers } from '../src/index.ts';
import { entriesForTest } from './entries-for-test.ts';

const { db, destinationId } = entriesForTest();
const remember = (ids: Record<string, string>) => rememberScopeMembers(db, destinationId(), ids);

test('a member of a scope keeps the ID of the first contact until its name is left out', async () => {
  expect(await remember({ web: '1', api: '2' })).toEqual({ web: '1', api: '2' });
  expect(await remember({ web: '3', docs: '4' })).toEqual({ web: '1', docs: '4' });
  expect(await remember({ docs: '5' })).toEqual({ docs: '4' });
  expect(await remember({ web: '3', docs: '5' })).toEqual({ web: '3', docs: '4' });
});

test('no member is remembered of a destination that is gone', async () => {
  expect(
    await rememberScopeMembers(db, '00000000-0000-4000-8000-000000000000', { web: '1' }),
  ).toBeUndefined();
});
