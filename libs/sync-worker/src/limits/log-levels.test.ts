import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { driftKinds, driftPolicies, faultKinds, nextStatus } from '@secrets/domain';
import { levelOfDrift, levelOfFailure } from './log-levels.ts';

test('a fault is an error if the client has to act, and a warning if the external service has to', () => {
  const expected = faultKinds.map((kind) => [
    kind,
    nextStatus.failed(kind, 100) === 'CLIENT_SIDE_ERROR' ? 'error' : 'warn',
  ]);
  expect(levelOfFailure).toEqual({ ...Object.fromEntries(expected), crashed: 'error' });
});

test('what is repaired is a warning, what waits for the operator an error', () => {
  const errors = driftPolicies.flatMap((policy) =>
    driftKinds
      .filter((drift) => drift !== 'none' && levelOfDrift(policy, drift) === 'error')
      .map((drift) => `${policy} ${drift}`),
  );
  expect(errors.sort()).toEqual(
    ['changed', 'missing', 'foreign', 'contested']
      .map((drift) => `report ${drift}`)
      .concat(['repair contested', 'repair foreign'])
      .sort(),
  );
});

test('the page of monitoring has the levels', () => {
  const page = readFileSync('docs/operations/monitoring.md', 'utf8');
  const listed = page.matchAll(/^\| `sync failed`, `(?<level>\w+)` \| (?<kinds>[^|]+) \|/gm);
  const levels = [...listed].flatMap(({ groups }) =>
    [...groups!.kinds!.matchAll(/`(\w+)`/g)].map(([, kind]) => [kind, groups!.level]),
  );
  expect(Object.fromEntries(levels)).toEqual(
    Object.fromEntries(Object.entries(levelOfFailure).filter(([kind]) => kind !== 'crashed')),
  );
});
