import { describe, expect, test } from '@jest/globals';
import { Fault, type FaultKind } from '@secrets/domain';
import { hasCode, providerFault, retryAfterSeconds } from './provider-fault.ts';

const kinds = new Map<string, FaultKind>([['Busy', 'throttled']]);

describe('the fault of an error response', () => {
  test.each([
    [200, undefined],
    [302, undefined],
    [400, 'rejected'],
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [404, 'rejected'],
    [429, 'throttled'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('without a known code follows from status %i: %s', (status, kind) => {
    for (const code of [undefined, 'Unknown', 'constructor'])
      expect(providerFault('Put', { status, code }, kinds)?.kind).toBe(kind);
  });

  test('follows from the code if it is in the table', () => {
    const fault = providerFault('Put', { status: 400, code: 'Busy' }, kinds);
    expect(fault).toMatchObject({ kind: 'throttled', message: 'Put: too many requests (Busy)' });
    expect(hasCode(fault, 'Other', 'Busy')).toBe(true);
    expect(hasCode(fault, 'Other')).toBe(false);
  });

  test.each([400, 404, 409, 413, 422, 423])('with status %i may pass if it is about a state', (status) => {
    expect(providerFault('Put', { status }, kinds)?.mayPass).toBe([404, 409, 423].includes(status));
  });

  test('names the status if there is no code', () => {
    const fault = providerFault('Put', { status: 502 }, kinds);
    expect(fault?.message).toBe('Put: the service is unavailable (status 502)');
    expect(hasCode(fault, 'Busy')).toBe(false);
  });

  test('names the reason that the provider adds to its code', () => {
    const fault = providerFault('Put', { status: 403, code: 'DENIED', reason: 'SERVICE_DISABLED' }, kinds);
    expect(fault?.message).toBe('Put: permission denied (DENIED: SERVICE_DISABLED)');
  });

  test('keeps how long the provider asks to wait, unless a retry is pointless', () => {
    const waitOf = (status: number) =>
      providerFault('Put', { status, retryAfterSeconds: 7 }, kinds)?.retryAfterSeconds;
    expect([waitOf(429), waitOf(503), waitOf(403)]).toEqual([7, 7, undefined]);
  });
});

test('a fault that is not from a response has no code', () => {
  expect(hasCode(new Fault('conflict', 'Busy'), 'Busy')).toBe(false);
});

test('Retry-After is a number of seconds or a date, and at most one day', () => {
  expect(retryAfterSeconds('12')).toBe(12);
  expect(retryAfterSeconds('999999999')).toBe(86_400);
  const inHalfAMinute = retryAfterSeconds(new Date(Date.now() + 30_000).toUTCString());
  expect(inHalfAMinute).toBeGreaterThan(25);
  expect(inHalfAMinute).toBeLessThanOrEqual(30);
  for (const header of ['soon', '-1', 'Wed, 21 Oct 2015 07:28:00 GMT', undefined])
    expect(retryAfterSeconds(header)).toBeUndefined();
});
