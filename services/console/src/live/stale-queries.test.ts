import { describe, expect, it } from '@jest/globals';
import { staleQueries } from './stale-queries.ts';

const destination = { type: 'cloudA-sm', name: 'prod' };
const secret = { mount: 'secret', secret_name: 'shop/db' };

describe('the queries that an event makes stale', () => {
  it('are those of its destination and its secret, for an entry', () => {
    const keys = staleQueries({ kind: 'entry', ...destination, ...secret });
    expect(keys).toContainEqual(['sync', 'associations', 'of-destination', 'cloudA-sm', 'prod']);
    expect(keys).toContainEqual(['sync', 'associations', 'of-secret', 'secret', 'shop/db']);
    expect(keys).toContainEqual(['sync', 'destinations', 'one', 'cloudA-sm', 'prod']);
    expect(keys).not.toContainEqual(['sync']);
  });

  it('are the rules of its destination, for a rule', () => {
    const keys = staleQueries({ kind: 'rule_refused', ...destination, ...secret });
    expect(keys).toEqual([['sync', 'rules', 'cloudA-sm', 'prod']]);
  });

  it('are none when the stream opens', () => {
    expect(staleQueries({ kind: 'open' })).toEqual([]);
  });

  it('are all of synchronization after a gap, and for an event that this version does not know', () => {
    expect(staleQueries({ kind: 'reset' })).toEqual([['sync']]);
    expect(staleQueries({ kind: 'new_kind' })).toEqual([['sync']]);
  });
});
