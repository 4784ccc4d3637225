import { afterEach, describe, expect, test } from '@jest/globals';
import { shiftClock } from '../../../../libs/testing/src/shift-clock.ts';
import { createIn, oid, useCloudB } from '../login-for-test.ts';

const { cloudB, login } = useCloudB();
const create = createIn(login);
const hours = 2 * 3_600_000;

let restore = () => {};
afterEach(() => restore());

/** Seconds until a token expires, by the clock of the database. */
const secondsLeft = async (accessor: string): Promise<number> => {
  const text =
    'select extract(epoch from expires_at - now())::float8 as left from login.tokens where accessor = $1';
  return (await login.db.query<{ left: number }>(text, [accessor]))[0]!.left;
};
const lookUp = async (token: string) => (await login.call('POST', '/auth/token/lookup', { token })).body.data;

/** A lifetime of 10 minutes, of which a slow machine has used less than 3. */
const requested = { policies: 'default', ttl: 600 };
function expectAboutTen(seconds: number) {
  expect(seconds).toBeGreaterThan(420);
  expect(seconds).toBeLessThanOrEqual(601);
}

describe.each([
  ['ahead', hours],
  ['behind', -hours],
])('login and a gateway whose clocks are two hours %s of that of the database', (_which, ms) => {
  test('say so to operators', async () => {
    restore = shiftClock(() => ms);
    expect(await login.plain('/readyz')).toEqual({
      ...{ ready: true, missing: [] },
      notes: [
        expect.stringMatching(
          /^the clock of this process is 7[12]\d\d\.\d s (ahead of|behind) that of the database$/,
        ),
      ],
    });
  });

  test('issue a token that lives as long as requested', async () => {
    restore = shiftClock(() => ms);
    const { accessor, client_token: token } = (await create(requested)).body.auth;
    expectAboutTen(await secondsLeft(accessor));
    expectAboutTen((await lookUp(token)).ttl);
    expect(await login.isAccepted(token)).toBe(true);
  });

  test('renew a token for as long as requested', async () => {
    const created = await create({ ...requested, ttl: 3_600 });
    restore = shiftClock(() => ms);
    const renewed = await login.call(
      'POST',
      '/auth/token/renew-self',
      { increment: 600 },
      login.callerOf(created),
    );
    expectAboutTen(renewed.body.auth.lease_duration);
    expectAboutTen(await secondsLeft(created.body.auth.accessor));
  });

  test('refuse a token that has expired', async () => {
    const { accessor, client_token: token } = (await create(requested)).body.auth;
    await login.db.query(
      "update login.tokens set expires_at = now() - interval '1 second' where accessor = $1",
      [accessor],
    );
    restore = shiftClock(() => ms);
    expect(await login.isAccepted(token)).toBe(false);
  });

  test('accept batch tokens of others, and others accept theirs', async () => {
    const batch = async () => (await create({ ...requested, type: 'batch' })).body.auth.client_token;
    const earlier = await batch();
    restore = shiftClock(() => ms);
    const own = await batch();
    for (const token of [earlier, own]) {
      expect(await login.isAccepted(token)).toBe(true);
      expectAboutTen((await lookUp(token)).ttl);
    }
    restore();
    expect(await login.isAccepted(own)).toBe(true);
    expectAboutTen((await lookUp(own)).ttl);
  });

  test('admit a login with a JWT that is valid now, and diagnose it as such', async () => {
    await cloudB.writeRole('fresh', {
      bound_service_principal_ids: [oid],
      max_token_age: 3_600,
      token_ttl: 600,
    });
    const jwt = await cloudB.issueJwt({ expiresInSeconds: 3_600 });
    restore = shiftClock(() => ms);
    const { status, body } = await cloudB.logIn({ role: 'fresh', jwt });
    expect(status).toBe(200);
    expectAboutTen(await secondsLeft(body.auth.accessor));
    const diagnosis = await login.call('POST', '/auth/cloudB/diagnose', { role: 'fresh', jwt });
    expect(diagnosis.body.data).toMatchObject({ admitted: true });
  });

  test('record of when the groups of a login are, also if that is a moment ago', async () => {
    const jwt = await cloudB.issueJwt();
    restore = shiftClock(() => ms);
    expect((await cloudB.logIn({ role: 'web', jwt })).status).toBe(200);
    const [alias] = await login.db.query<{ age: number }>(
      'select extract(epoch from now() - groups_issued_at)::float8 as age from login.entity_aliases where name = $1',
      [oid],
    );
    expect(Math.abs(alias!.age)).toBeLessThan(3_600);
  });

  test('refuse a login with a JWT that has expired', async () => {
    const jwt = await cloudB.issueJwt({ expiresInSeconds: -300 });
    restore = shiftClock(() => ms);
    const { status, body } = await cloudB.logIn({ role: 'web', jwt });
    expect([status, body.errors]).toEqual([403, ['the token has expired']]);
  });
});
