import { expect, test } from '@jest/globals';
import { hasOwnerTag, tagChanges, tagsOf } from './ownership.ts';

const owner = { prefix: 'secrets', destinationId: 'd1' };

test('a secret belongs to the destination whose ID is in its owner tag', () => {
  expect(hasOwnerTag(tagsOf({ team: 'a' }, owner), owner)).toBe(true);
  expect(hasOwnerTag(tagsOf({}, { ...owner, destinationId: 'd2' }), owner)).toBe(false);
  expect(hasOwnerTag(tagsOf({}, { ...owner, prefix: 'other' }), owner)).toBe(false);
  expect(hasOwnerTag({}, owner)).toBe(false);
});

test('built-in tags take precedence over custom tags', () => {
  expect(tagsOf({ 'managed-by': 'me' }, owner)['managed-by']).toBe('secrets-sync');
});

test('tag changes set what differs, and remove only what the last put set', () => {
  const changes = tagChanges({
    wanted: { same: '1', changed: '2', new: '3' },
    present: { same: '1', changed: 'x', removed: 'y', foreign: 'z' },
    ours: { same: '1', changed: 'x', removed: 'y', gone: 'w' },
  });
  expect(changes).toEqual({ missing: { changed: '2', new: '3' }, surplus: ['removed'] });
});
