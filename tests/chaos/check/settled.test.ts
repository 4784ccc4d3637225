import { expect, test } from '@jest/globals';
import { isAtRest, type Observed, reasonsUnsettled } from './settled.ts';

const settled: Observed = {
  associations: [
    { destination: 'codehost/d', store: 'codehost', key: 's', externalName: 'T0DXS', status: 'SYNCED' },
  ],
  work: [],
  values: new Map([['s', '{"value":"v"}']]),
  held: new Map([['codehost', new Map([['t0dxs', '{"value":"v"}']])]]),
  unfinished: { 'sync.entries': 0 },
  queued: { 'sync.codehost': 0 },
  ruled: null,
};
const holding = (secrets: Record<string, string>): Observed => ({
  ...settled,
  held: new Map([['codehost', new Map(Object.entries(secrets))]]),
});

test('a store that holds exactly what is wanted is settled', () => {
  expect(reasonsUnsettled(settled)).toEqual([]);
});

test.each([
  ['an old value', holding({ t0dxs: '{"value":"u"}' })],
  ['a missing external secret', holding({})],
  ['one that is not wanted', holding({ t0dxs: '{"value":"v"}', t1dxs: '{"value":"v"}' })],
  [
    'a pending association',
    { ...settled, associations: [{ ...settled.associations[0]!, status: 'PENDING' }] },
  ],
  ['work on a destination', { ...settled, work: ['codehost/d: purge'] }],
  ['an unfinished row', { ...settled, unfinished: { 'sync.entries': 1 } }],
  ['a message', { ...settled, queued: { 'sync.codehost': 1 } }],
])('%s is found', (_, observed) => {
  expect(reasonsUnsettled(observed as Observed)).not.toEqual([]);
});

test('a system whose stores differ is at rest if nothing is pending', () => {
  expect(isAtRest(holding({}))).toBe(true);
  expect(isAtRest({ ...holding({}), queued: { 'sync.codehost': 1 } })).toBe(false);
});
