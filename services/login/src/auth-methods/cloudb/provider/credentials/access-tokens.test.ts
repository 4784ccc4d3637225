import { expect, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { AccessTokens } from './access-tokens.ts';

const hour = 3_600_000;

/** Tokens that live for an hour, at a time that the test sets. */
function tokensAt() {
  const at = { now: 0, requests: 0, isDown: false, isRefused: false };
  const tokens = new AccessTokens(
    async () => {
      at.requests += 1;
      if (at.isDown) throw new Error('down');
      if (at.isRefused) throw new Problem('bad_gateway', 'refused');
      return { token: `token ${at.requests}`, expiresOnTimestamp: at.now + hour };
    },
    () => at.now,
  );
  const get = async () => (await tokens.get('scope')).token;
  return { at, get, tokens };
}

test('one request serves all who ask at the same time, and later', async () => {
  const { at, get } = tokensAt();
  expect(await Promise.all([get(), get()])).toEqual(['token 1', 'token 1']);
  expect(await get()).toBe('token 1');
  expect(at.requests).toBe(1);
});

test('a token is refreshed in the background before it expires', async () => {
  const { at, get } = tokensAt();
  await get();
  at.now = hour - 4 * 60_000;
  expect(await get()).toBe('token 1');
  expect(await get()).toBe('token 2');
});

test('the old token is used while the refresh fails, until it expires', async () => {
  const { at, get } = tokensAt();
  await get();
  at.isDown = true;
  at.now = hour - 4 * 60_000;
  expect([await get(), await get(), await get()]).toEqual(['token 1', 'token 1', 'token 1']);
  expect(at.requests).toBe(2); // the next attempt is half a minute later
  at.now = hour - 10_000;
  await expect(get()).rejects.toThrow('down');
  at.isDown = false;
  expect(await get()).toBe('token 4');
});

test('refused credentials are not tried again for five seconds', async () => {
  const { at, get, tokens } = tokensAt();
  at.isRefused = true;
  await expect(get()).rejects.toThrow('refused');
  at.isRefused = false;
  at.now += 4_900;
  await expect(get()).rejects.toThrow('refused');
  expect(at.requests).toBe(1);
  at.now += 200;
  expect(await get()).toBe('token 2');
  at.isRefused = true;
  at.now += hour;
  await expect(get()).rejects.toThrow('refused');
  at.isRefused = false;
  tokens.forgetRefusals();
  expect(await get()).toBe('token 4');
});

test('an issuer that is down is asked again at once', async () => {
  const { at, get } = tokensAt();
  at.isDown = true;
  await expect(get()).rejects.toThrow('down');
  at.isDown = false;
  expect(await get()).toBe('token 2');
});
