import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const hour = 3_600;
const day = 24 * hour;

const driver = useDriver();
const { connect, put, putNew, remove } = driver;

/** The newest version as the vault shows it. The dates are in seconds since 1970. */
async function shown(name: string) {
  const { value, properties } = await driver.harness.stranger.getSecret(name);
  const { contentType, createdOn, expiresOn } = properties;
  const seconds = (date: Date | undefined) => (date === undefined ? undefined : date.getTime() / 1000);
  return { value, contentType, created: seconds(createdOn)!, expires: seconds(expiresOn) };
}

const versions = (name: string) => driver.harness.held(name)?.version_count;
const inDays = (days: number) => new Date(Math.floor(Date.now() / 1000 + days * day) * 1000);

describe('content_type', () => {
  test('is that of a new secret, and follows the settings', async () => {
    const { name, unchanged, remote } = await putNew(await connect({ content_type: 'text/plain' }));
    expect((await shown(name)).contentType).toBe('text/plain');
    let state = remote;
    for (const [content_type, contentType] of [
      ['application/json', 'application/json'],
      ['', undefined],
      ['text/csv', 'text/csv'],
    ] as const) {
      state = (await put({ ...unchanged, remote: state }, await connect({ content_type }))).remote;
      expect(await shown(name)).toMatchObject({ value: 'one', contentType });
    }
    // An update cannot take a content type away, so that was a new version.
    expect(versions(name)).toBe(2);
  });

  test('is taken away together with a new value', async () => {
    const { name, next } = await putNew(await connect({ content_type: 'text/plain' }));
    await put(next('two'), await connect());
    expect(await shown(name)).toMatchObject({ value: 'two', contentType: undefined });
  });

  test('of somebody else is kept while none is set, and replaced by one that is', async () => {
    const { name, verification, next } = await putNew();
    await driver.harness.stranger.updateSecretProperties(name, '', { contentType: 'theirs' });
    await put(verification);
    const { remote } = await put(next('two'));
    expect((await shown(name)).contentType).toBe('theirs');
    const typed = await connect({ content_type: 'text/plain' });
    await put({ ...verification, ...putRequest(name, 'two'), remote, valueChanged: false }, typed);
    expect((await shown(name)).contentType).toBe('text/plain');
  });

  test('that is empty is the same as none', async () => {
    const { name, verification } = await putNew();
    await driver.harness.stranger.updateSecretProperties(name, '', { contentType: '' });
    driver.harness.calls();
    await put(verification);
    expect(driver.harness.calls()).toEqual(['GetSecret']);
    expect(versions(name)).toBe(1);
  });

  test('is restored by a comparison', async () => {
    const typed = await connect({ content_type: 'text/plain' });
    const { name, verification } = await putNew(typed);
    await driver.harness.stranger.updateSecretProperties(name, '', { contentType: 'theirs' });
    await put(verification, typed);
    expect(await shown(name)).toMatchObject({ contentType: 'text/plain' });
    expect(versions(name)).toBe(1);
  });
});

describe('expires_after', () => {
  test('counts from the version, and follows the settings', async () => {
    const { name, unchanged, remote } = await putNew(await connect({ expires_after: 30 * day }));
    const first = await shown(name);
    expect(Math.abs(first.expires! - (first.created + 30 * day))).toBeLessThan(hour);
    const longer = await put({ ...unchanged, remote }, await connect({ expires_after: 60 * day }));
    expect(await shown(name)).toEqual({ ...first, expires: first.created + 60 * day });
    const never = await put({ ...unchanged, remote: longer.remote }, await connect());
    expect(await shown(name)).toMatchObject({ value: 'one', expires: undefined });
    await put({ ...unchanged, remote: never.remote }, await connect({ expires_after: 30 * day }));
    expect((await shown(name)).expires).toBeGreaterThan(first.created + 29 * day);
  });

  test('is renewed with each new value, whatever somebody else has set', async () => {
    const dated = await connect({ expires_after: 30 * day });
    const { name, next } = await putNew(dated);
    await driver.harness.stranger.updateSecretProperties(name, '', { expiresOn: inDays(1) });
    await put(next('two'), dated);
    const { value, created, expires } = await shown(name);
    expect(value).toBe('two');
    expect(expires).toBeGreaterThan(created + 29 * day);
  });

  test('is taken away together with a new value', async () => {
    const { name, next } = await putNew(await connect({ expires_after: day }));
    await put(next('two'), await connect());
    expect(await shown(name)).toMatchObject({ value: 'two', expires: undefined });
  });

  test('that somebody else has set is kept while none is set', async () => {
    const { name, next, verification } = await putNew();
    const expiresOn = inDays(7);
    await driver.harness.stranger.updateSecretProperties(name, '', { expiresOn });
    await put(verification);
    await put(next('two'));
    expect(await shown(name)).toMatchObject({ value: 'two', expires: expiresOn.getTime() / 1000 });
  });

  test('that somebody else has set in place of ours is kept once none is set', async () => {
    const { name, unchanged } = await putNew(await connect({ expires_after: day }));
    const expiresOn = inDays(7);
    await driver.harness.stranger.updateSecretProperties(name, '', { expiresOn });
    await put(unchanged, await connect());
    expect((await shown(name)).expires).toBe(expiresOn.getTime() / 1000);
    expect(versions(name)).toBe(1);
  });

  test('is restored by a comparison, and an unchanged one costs no write', async () => {
    const dated = await connect({ expires_after: day });
    const { name, verification } = await putNew(dated);
    const { expires } = await shown(name);
    driver.harness.calls();
    await put(verification, dated);
    expect(driver.harness.calls()).toEqual(['GetSecret']);
    await driver.harness.stranger.updateSecretProperties(name, '', { expiresOn: inDays(7) });
    await put(verification, dated);
    expect((await shown(name)).expires).toBe(expires);
    expect(versions(name)).toBe(1);
  });
});

describe('a shorter expires_after', () => {
  const startMs = Date.now();
  let aheadMs = 0;
  const young = useDriver({}, { clock: () => startMs + aheadMs });

  test('that an existing version has passed already leads to a new version, so that it does not expire at once', async () => {
    aheadMs = -60 * day * 1000;
    const { name, unchanged } = await young.putNew(await young.connect({ expires_after: 365 * day }));
    aheadMs = 0;
    await young.put(unchanged, await young.connect({ expires_after: 30 * day }));
    const { value, properties } = await young.harness.stranger.getSecret(name);
    expect(value).toBe('one');
    expect(properties.expiresOn!.getTime()).toBeGreaterThan(startMs + 29 * day * 1000);
    expect(young.harness.held(name)?.version_count).toBe(2);
  });
});

describe('a vault with policies that deny', () => {
  const strict = useDriver({
    policies: { requiresContentType: true, requiresExpiry: true, maximumValidityDays: 90 },
  });
  const complete = { content_type: 'text/plain', expires_after: 80 * day };

  test.each([
    [{}, 'content_type'],
    [{ content_type: 'text/plain' }, 'expires_after'],
    [{ ...complete, expires_after: 100 * day }, 'expires_after'],
  ])('refuses %j, and the reason names the field %s', async (settings, field) => {
    const name = strict.harness.freshName();
    await expect(strict.put(putRequest(name, 'one'), await strict.connect(settings))).rejects.toMatchObject({
      kind: 'rejected',
      mayPass: true,
      message: expect.stringContaining(`set ${field}`),
    });
  });

  test('takes new values, changed settings and a removal', async () => {
    const settled = await strict.connect(complete);
    const { name, next } = await strict.putNew(settled);
    const { remote } = await strict.put(next('two'), settled);
    const changed = await strict.connect({ ...complete, expires_after: 30 * day });
    const put = await strict.put({ ...next('two'), valueChanged: false, remote }, changed);
    expect(strict.harness.held(name)).toMatchObject({ value: 'two', version_count: 2 });
    await strict.remove(name, put.remote, changed);
    expect(strict.harness.held(name)).toBeUndefined();
  });
});

test('a removal is not held up by a policy that denies the update before it', async () => {
  const { name, remote } = await putNew();
  driver.failWith('UpdateSecret', 403, 'ForbiddenByGovernancePolicy');
  await remove(name, remote);
  expect(driver.harness.held(name)).toBeUndefined();
});

describe('a vault behind a firewall', () => {
  const walled = useDriver({ permittedAddresses: ['203.0.113.7'] });

  test('refuses the worker, and the reason says what to permit', async () => {
    await expect(walled.put(putRequest(walled.harness.freshName(), 'one'))).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining("the vault's firewall refuses the address of the worker"),
    });
  });
});
