import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { parseKeyRing } from '@secrets/seal';
import { contentRow } from './content-row.ts';
import { type BoundRow, reportingRowGuard, rowGuard } from './row-guard.ts';
import { tokenRow } from './token-row.ts';

const line = (id: string, suffix = '') => `${id}:${randomBytes(32).toString('base64')}${suffix}\n`;
const guardOf = (...lines: string[]) => rowGuard(parseKeyRing(lines.join(''), 'test'));
const row: BoundRow = {
  table: 'login.tokens',
  name: 'a',
  values: ['a', null, new Date(0), { b: 1, a: [2] }],
};

describe('a row', () => {
  const [first, second, bound] = [line('r1'), line('r2'), line('r3', ' bound')];

  test.each([
    ['is accepted as it was written', guardOf(first), row, true],
    [
      'is accepted with the names of its JSON in another order',
      guardOf(first),
      { ...row, values: [...row.values.slice(0, 3), { a: [2], b: 1 }] },
      true,
    ],
    [
      'is rejected with another value',
      guardOf(first),
      { ...row, values: ['b', ...row.values.slice(1)] },
      false,
    ],
    ['is accepted after a rotation', guardOf(second, first), row, true],
    ['is accepted after a rotation to a bound key', guardOf(bound, first), row, true],
    ['is rejected when its key is gone', guardOf(second), row, false],
    ['is accepted without any key', rowGuard(undefined), row, true],
  ])('%s', (_rule, guard, read, accepted) => {
    expect(guard.accepts(read, guardOf(first).hashOf(row))).toBe(accepted);
  });

  test('without a hash is accepted until the current key is bound', () => {
    const verdicts = [[first], [first, bound], [bound, first]].map((lines) =>
      guardOf(...lines).accepts(row, null),
    );
    expect(verdicts).toEqual([true, true, false]);
    expect(rowGuard(undefined).hashOf(row)).toBeNull();
  });
});

const policy = { 'b/': { capabilities: ['read'] }, 'a/': { min: 9, capabilities: [] } };
const token = {
  accessor: 'accessor',
  namespace_id: 'root',
  display_name: 'ci-1',
  creation_path: 'auth/ci/login',
  policies: ['ci', 'default'],
  metadata: { vm_name: 'é', role: 'ci' },
  bound_cidrs: ['10.0.0.0/8'],
  renewable: true,
  ttl_seconds: 3600,
  period_seconds: 0,
  explicit_max_ttl_seconds: 0,
  max_expires_at: new Date(0),
  role_name: null,
  mount_id: '00000000-0000-4000-8000-000000000000',
  login_source: { role: 'ci', groups: [], accepted: { tenant_id: 't', resource: 'r' } },
};

test.each([
  [tokenRow(Buffer.alloc(32, 1), token), 'r1:oFyEJpZVUlhfyLUvoqQRzW85L96XMG3C41AnaDEnZe8'],
  [contentRow('login.policies', ['root', 'ci'], policy), 'r1:Ont8N3VfevXdRCperFkyuLrtmRg_65ol9tB33KwzsVM'],
])('a row has the hash that earlier versions have stored', (row, hash) => {
  expect(guardOf(`r1:${'00'.repeat(32)}`).hashOf(row)).toBe(hash);
});

test('each rejected row is logged once by its name, without its hash, and counted each time', () => {
  const lines: unknown[] = [];
  let counted = 0;
  const names: string[] = [];
  const guard = reportingRowGuard({
    rowKeys: parseKeyRing(line('r1', ' bound'), 'test'),
    log: { warn: (...logged) => void lines.push(logged) },
    metrics: {
      counter: (name) => {
        names.push(name);
        return { inc: () => void counted++ };
      },
    },
  });
  expect(guard.accepts(row, guard.hashOf(row))).toBe(true);
  expect(lines).toEqual([]);
  const hashes = [null, 'r1:other', 'r1:other', null];
  expect(hashes.filter((hash) => guard.accepts(row, hash))).toEqual([]);
  expect(names).toEqual(['access_rows_rejected_total']);
  expect(counted).toBe(4);
  expect(lines).toHaveLength(2); // one for each hash
  expect(new Set(lines.map((logged) => JSON.stringify(logged)))).toEqual(
    new Set([
      JSON.stringify([
        { table: 'login.tokens', name: 'a' },
        'a row is not as login has written it, and is not believed',
      ]),
    ]),
  );
});
