import { expect, test } from '@jest/globals';
import type { Problem } from '@secrets/domain';
import type { Attempt } from '../../../src/auth-methods/cloudb/decision/assess.ts';
import { decide } from '../../../src/auth-methods/cloudb/decision/decide.ts';
import { parseClaims } from '../../../src/auth-methods/cloudb/directory/claims.ts';
import { mergedRole, RoleBody } from '../../../src/auth-methods/cloudb/roles/role-settings.ts';
import { attacks } from './attacks.ts';
import { boundRows } from './bound-rows.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { providerWith } from './world.ts';

const attemptOf = ({ role, token, request, requirePrincipalBinding = false }: Row): Attempt => ({
  role: mergedRole(undefined, RoleBody.parse(role)),
  requirePrincipalBinding,
  claims: parseClaims({ tid: 't', ...token }),
  request,
  now: new Date(),
});

const outcomeOf = async (row: Row) =>
  decide(attemptOf(row), () => providerWith(row.machines ?? 'complete')).catch((error: Problem) => ({
    refusal: { reason: error.message },
  }));

test.each([...rows, ...attacks].map((row) => [row.name, row] as const))('a login %s', async (_name, row) => {
  const outcome = await outcomeOf(row);
  const { refusal } = outcome;
  if (row.refused === undefined) expect(refusal).toBeUndefined();
  else expect(refusal?.reason).toContain(row.refused);
  if (row.place !== undefined) expect(outcome).toEqual({ place: row.place });
});

test('each bound, alone and in pairs, for each kind of identity', async () => {
  expect(boundRows.length).toBeGreaterThan(1_000);
  const outcomes = await Promise.all(
    boundRows.map(async (row) => `${row.name}: ${(await outcomeOf(row)).refusal?.reason ?? 'admitted'}`),
  );
  const expected = boundRows.map(({ name, refused }) =>
    expect.stringMatching(refused === undefined ? `${name}: admitted$` : `${name}: .*${refused}`),
  );
  expect(outcomes).toEqual(expected);
});

test('all look-ups of a login share one provider, whose time is limited', async () => {
  let providers = 0;
  const row = rows.find(({ name }) => name === 'of a flexible set has both names')!;
  const { refusal } = await decide(attemptOf(row), () => {
    providers += 1;
    return providerWith('complete');
  });
  expect([refusal, providers]).toEqual([undefined, 1]);
});
