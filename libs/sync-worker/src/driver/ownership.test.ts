import { describe, expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import {
  belongsTo,
  marksOf,
  overwriteDespite,
  releasedTag,
  requireWritable,
  tagChanges,
  tagsOf,
  withoutMarks,
} from './ownership.ts';

const owner = { prefix: 'secrets', destinationId: 'd1' };
const mark = (over: object = {}) => tagsOf({ team: 'a' }, { ...owner, ...over });
const secret = (tags: Record<string, string>, isRemembered = false) => ({ name: 'a', tags, isRemembered });

const own: [string, Record<string, string>][] = [
  ['the ID of the destination', mark()],
  ['the ID of the destination under an earlier prefix', mark({ prefix: 'earlier' })],
];
const foreign: [string, Record<string, string>][] = [
  ['no tags', {}],
  ['tags of another product', { team: 'a', 'managed-by': 'terraform' }],
  ['tags of another service that syncs', { 'managed-by': 'theirs-sync' }],
];
const anothers: [string, Record<string, string>][] = [
  ['the ID of another destination', mark({ destinationId: 'd2' })],
  ['the ID of another destination alone', { 'secrets-destination': 'd2' }],
  ['the mark of another installation', mark({ prefix: 'other', destinationId: 'd2' })],
];

test('a secret belongs to the destination whose ID is in its owner tag', () => {
  expect(belongsTo(owner, secret(mark()))).toBe(true);
  for (const [, tags] of [...foreign, ...anothers]) expect(belongsTo(owner, secret(tags))).toBe(false);
});

test.each([...own, ...foreign])(
  'a secret that was written before and has %s belongs to the destination',
  (_, tags) => {
    expect(belongsTo(owner, secret(tags, true))).toBe(true);
    expect(() => requireWritable(owner, secret(tags, true), false)).not.toThrow();
  },
);

test.each(foreign)('a secret with %s is written only with overwrite', (_, tags) => {
  expect(() => requireWritable(owner, secret(tags), false)).toThrow(/does not belong to this destination/);
  expect(() => requireWritable(owner, secret(tags), true)).not.toThrow();
});

test.each(anothers)('a secret with %s is never written, even if it was written before', (_, tags) => {
  for (const isRemembered of [false, true])
    for (const overwrite of [false, true]) {
      const write = () => requireWritable(owner, secret(tags, isRemembered), overwrite);
      expect(write).toThrow(Fault);
      expect(write).toThrow(/belongs to another destination/);
    }
});

test('a secret that its destination has released belongs to any destination until one marks it', () => {
  for (const prefix of ['secrets', 'other']) {
    const released = {
      ...mark({ prefix, destinationId: 'd2' }),
      ...releasedTag({ prefix, destinationId: 'd2' }),
    };
    expect(belongsTo(owner, secret(released))).toBe(true);
    expect(() => requireWritable(owner, secret(released), false)).not.toThrow();
    const marked = { ...released, ...mark({ destinationId: 'd3' }) };
    expect(belongsTo(owner, secret(marked))).toBe(false);
  }
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

describe('what other destinations have marked is taken over', () => {
  const deleted = async (ids: readonly string[]) => ids.every((id) => id === 'gone');
  const permitted = async (tags: Record<string, string>, overwrite: boolean) => {
    let error: unknown;
    try {
      requireWritable(owner, secret(tags), overwrite);
    } catch (thrown) {
      error = thrown;
    }
    return overwriteDespite(error, { overwrite }, deleted);
  };

  test('with overwrite, if they were deleted', async () => {
    const left = mark({ destinationId: 'gone' });
    expect(await permitted(left, false)).toBeUndefined();
    const overwrite = (await permitted(left, true))!;
    expect(() => requireWritable(owner, secret(left), overwrite)).not.toThrow();
    expect(() => requireWritable(owner, secret(mark({ destinationId: 'd2' })), overwrite)).toThrow(Fault);
  });

  test.each([
    ['if they exist', mark({ destinationId: 'd2' })],
    ['if they are of another installation', mark({ prefix: 'other', destinationId: 'gone' })],
  ])('not %s', async (_, tags) => {
    expect(await permitted(tags, true)).toBeUndefined();
  });
});

test('a secret that is kept loses the marks of its own destination, and no other tags', () => {
  expect(withoutMarks(owner, mark())).toEqual({ team: 'a' });
  const others = mark({ destinationId: 'd2' });
  expect([marksOf(owner, others), withoutMarks(owner, others)]).toEqual([[], others]);
});
