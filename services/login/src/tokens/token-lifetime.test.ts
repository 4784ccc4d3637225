import { describe, expect, test } from '@jest/globals';
import { planLifetime, renewedExpiry, secondsLeft, systemTtlSeconds } from './token-lifetime.ts';

const now = new Date(1_700_000_000_000);
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000);

describe('the lifetime of a new token', () => {
  test.each([
    ['is the default of the system', {}, systemTtlSeconds, systemTtlSeconds],
    ['is the requested TTL', { ttlSeconds: 60 }, 60, systemTtlSeconds],
    [
      'does not exceed the maximum of the system',
      { ttlSeconds: systemTtlSeconds + 1 },
      systemTtlSeconds,
      systemTtlSeconds,
    ],
    ['does not exceed the requested maximum', { ttlSeconds: 600, maxTtlSeconds: 60 }, 60, 60],
    [
      'does not exceed the explicit maximum',
      { ttlSeconds: 600, maxTtlSeconds: 300, explicitMaxTtlSeconds: 60 },
      60,
      60,
    ],
    ['is the maximum if only that is requested', { maxTtlSeconds: 60 }, 60, 60],
    ['is the period, without a maximum', { periodSeconds: 60, ttlSeconds: 600 }, 60, null],
    ['is the period, up to the explicit maximum', { periodSeconds: 60, explicitMaxTtlSeconds: 90 }, 60, 90],
    [
      'is the explicit maximum if the period exceeds it',
      { periodSeconds: 60, explicitMaxTtlSeconds: 30 },
      30,
      30,
    ],
  ])('%s', (_rule, request, ttl, max) => {
    expect(planLifetime(request, now)).toMatchObject({
      ttlSeconds: ttl,
      expiresAt: after(ttl),
      maxExpiresAt: max === null ? null : after(max),
    });
  });

  test('is unlimited for a root token unless a lifetime is requested', () => {
    expect(planLifetime({}, now, { forever: true })).toMatchObject({ ttlSeconds: 0, expiresAt: null });
    expect(planLifetime({ ttlSeconds: 5 }, now, { forever: true }).expiresAt).toEqual(after(5));
  });
});

test('a renewal sets the requested lifetime, shorter ones too, but none past the maximum', () => {
  const token = { ttlSeconds: 60, periodSeconds: 0, expiresAt: after(10), maxExpiresAt: after(100) };
  expect(renewedExpiry(token, undefined, now)).toEqual(after(60));
  expect(renewedExpiry(token, 600, now)).toEqual(after(100));
  expect(renewedExpiry(token, 5, now)).toEqual(after(5));
  expect(renewedExpiry({ ...token, periodSeconds: 30, maxExpiresAt: null }, 600, now)).toEqual(after(30));
  expect(renewedExpiry({ ...token, expiresAt: null }, 600, now)).toBeNull();
  expect([secondsLeft(null, now), secondsLeft(after(1.2), now), secondsLeft(after(-5), now)]).toEqual([
    0, 2, 0,
  ]);
});
