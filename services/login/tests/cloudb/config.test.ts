import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseExactly } from '@secrets/domain';
import { type LoginForTest, startLoginForTest } from '../login-for-test.ts';

const path = '/auth/team/azure/config';
const secret = 'canary-client-secret';
let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
  await login.call('POST', '/sys/auth/team/azure', { type: 'cloudB' });
});
afterAll(() => login.stop());

describe('before the first write', () => {
  test('is not found', async () => {
    expect((await login.call('GET', path)).status).toBe(404);
    expect((await login.call('PATCH', path, {})).status).toBe(404);
  });

  test('needs a tenant and a resource', async () => {
    const errorsOf = async (body: object) => (await login.call('POST', path, body)).body.errors;
    expect(await errorsOf({ resource: 'r' })).toEqual(['tenant_id is required']);
    expect(await errorsOf({ tenant_id: 't' })).toEqual(['resource is required']);
  });
});

test('says that logins trust a directory that is not protected, such as the sandbox', async () => {
  const own = await startLoginForTest({ authorityUrl: 'http://127.0.0.1:9/directory' });
  await own.call('POST', '/sys/auth/team/azure', { type: 'cloudB' });
  await own.call('POST', path, { tenant_id: 't', resource: 'r' });
  const { warnings } = (await own.call('GET', path)).body;
  expect(warnings).toEqual([expect.stringMatching(/^logins trust the directory at http:/)]);
  await own.stop();
});

describe('a configuration', () => {
  beforeAll(async () => {
    const body = {
      tenant_id: 't',
      resource: 'https://r/',
      environment: 'AzureChinaCloud',
      client_id: 'c',
      client_secret: secret,
    };
    expect((await login.call('POST', path, body)).status).toBe(204);
  });

  test.each(['POST', 'PATCH'])('keeps the fields that a %s omits', async (method) => {
    const body = { retry_delay: '7s' };
    expect((await login.call(method, path, body)).status).toBe(204);
    expect((await login.call('GET', path)).body.data).toMatchObject({
      tenant_id: 't',
      resource: 'https://r/',
      client_id: 'c',
      environment: 'AzureChinaCloud',
      identity_token_ttl: 0,
      retry_delay: 7_000_000_000,
      max_retries: 3,
      root_password_ttl: 4_380 * 3_600,
    });
  });

  test('shows delays between retries in nanoseconds, as Vault does, and takes those back', async () => {
    const delays = async (body: object) => {
      expect((await login.call('POST', path, body)).status).toBe(204);
      const { retry_delay, max_retry_delay } = (await login.call('GET', path)).body.data;
      return [retry_delay, max_retry_delay];
    };
    const shown = await delays({ retry_delay: 5, max_retry_delay: '2m' });
    expect(shown).toEqual([5_000_000_000, 120_000_000_000]);
    expect(await delays({ retry_delay: shown[0], max_retry_delay: String(shown[1]) })).toEqual(shown);
    const [stored] = await login.db.query<{ settings: object }>('select settings from login.cloudb_configs');
    expect(stored!.settings).toMatchObject({ retry_delay: 5, max_retry_delay: 120 });
  });

  test('takes a delay in any notation of a number, and refuses one that is too long', async () => {
    const save = (delay: string) => login.call('POST', path, { retry_delay: parseExactly(delay) });
    expect((await save('5.0')).status).toBe(204);
    expect((await login.call('GET', path)).body.data.retry_delay).toBe(5_000_000_000);
    const { status, body } = await save('9'.repeat(1_600));
    expect(status).toBe(400);
    expect(body.errors[0]).toMatch(/retry_delay/);
    const listed = await save(`[-${'9'.repeat(60)}, -${'9'.repeat(60)}]`);
    expect([listed.status, listed.body.errors]).toEqual([400, [expect.stringMatching(/^retry_delay/)]]);
  });

  test('treats null as an absent field, but as the default in a patch', async () => {
    const maxRetries = async () => (await login.call('GET', path)).body.data.max_retries;
    await login.call('POST', path, { max_retries: 7 });
    expect((await login.call('POST', path, { max_retries: null })).status).toBe(204);
    expect(await maxRetries()).toBe(7);
    expect((await login.call('PATCH', path, { max_retries: null })).status).toBe(204);
    expect(await maxRetries()).toBe(3);
    expect((await login.call('PATCH', path, { tenant_id: null })).body.errors).toEqual([
      'tenant_id is required',
    ]);
  });

  test('stores the secret encrypted, and neither returns nor logs it', async () => {
    expect(JSON.stringify((await login.call('GET', path)).body)).not.toContain('secret');
    const [row] = await login.db.query<{ sealed: Uint8Array }>(
      'select sealed_client_secret as sealed from login.cloudb_configs',
    );
    expect(row!.sealed.length).toBeGreaterThan(secret.length);
    expect(Buffer.from(row!.sealed).toString('latin1')).not.toContain(secret);
    expect(login.logged()).not.toContain(secret);
  });

  describe.each(['POST', 'PATCH'])('refuses a %s', (method) => {
    test.each([{ tenant_id: 't2' }, { client_id: 'c2' }, { environment: 'public' }, { environment: '' }])(
      'of %j that would send the stored secret elsewhere',
      async (change) => {
        const { status, body } = await login.call(method, path, change);
        expect([status, body.errors]).toEqual([
          400,
          [
            'client_secret is required if tenant_id, client_id or environment changes: the stored one is not sent elsewhere',
          ],
        ]);
        expect((await login.call('GET', path)).body.data).toMatchObject({
          tenant_id: 't',
          client_id: 'c',
          environment: 'AzureChinaCloud',
        });
      },
    );
  });

  test('moves to another tenant with a secret, or without one', async () => {
    const write = async (body: object) => (await login.call('POST', path, body)).status;
    expect(await write({ tenant_id: 't', client_id: 'c', environment: 'china' })).toBe(204);
    expect(await write({ tenant_id: 't2', client_secret: 'other' })).toBe(204);
    expect(await write({ tenant_id: 't3', client_secret: '' })).toBe(204);
    expect(await write({ tenant_id: 't', client_id: 'c2' })).toBe(204);
    expect(await write({ client_id: 'c', client_secret: secret })).toBe(204);
  });

  test.each([
    ['audience and secret', { identity_token_audience: 'a' }, /mutually exclusive/],
    ['a long audience', { identity_token_audience: 'a'.repeat(600), client_secret: '' }, /fewer than 600/],
    ['an unknown environment', { environment: 'moon' }, /environment/],
    ['a tenant that is a path', { tenant_id: '../x' }, /tenant_id/],
    ['a long lifetime', { identity_token_ttl: '25h' }, /identity_token_ttl: must be between 1m and 24h/],
    ['a negative number', { max_retries: -1 }, /max_retries/],
    ['two schedules', { rotation_period: 60, rotation_schedule: '0 0 * * *' }, /mutually exclusive/],
    [
      'a window without a schedule',
      { rotation_window: 60 },
      /cannot use rotation_window without rotation_schedule/,
    ],
    [
      'a window of a period',
      { rotation_window: 60, rotation_period: 900 },
      /rotation_window does not apply to period/,
    ],
  ])('refuses %s', async (_what, body, sentence) => {
    const refused = await login.call('POST', path, body);
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0]).toMatch(sentence);
  });

  test('warns of unknown fields', async () => {
    const { body } = await login.call('POST', path, { tenant: 't' });
    expect(body.warnings).toEqual(['unknown field tenant was ignored']);
  });

  test('warns of a schedule without a secret, and refuses one that is malformed', async () => {
    const rotating = await login.call('POST', path, { client_secret: '', rotation_period: '1h' });
    expect(rotating.body.warnings).toEqual([expect.stringMatching(/have no effect without client_secret$/)]);
    const tooLong = await login.call('POST', path, { client_secret: 's', rotation_period: '4380h' });
    expect(tooLong.body.warnings).toEqual([expect.stringMatching(/expire before they are rotated$/)]);
    const body = { rotation_period: 0, rotation_schedule: '0 25 * * *' };
    expect((await login.call('POST', path, body)).body.errors).toEqual([
      expect.stringMatching(/^rotation_schedule: must be a cron expression/),
    ]);
  });

  test('is deleted, and deleting it again succeeds', async () => {
    expect((await login.call('DELETE', path)).status).toBe(204);
    expect((await login.call('GET', path)).status).toBe(404);
    expect((await login.call('DELETE', path)).status).toBe(204);
  });
});

test('a path below no auth mount is not found', async () => {
  const { status, body } = await login.call('DELETE', '/auth/nowhere/config');
  expect([status, body.errors]).toEqual([404, ['no auth method is mounted at nowhere/']]);
});
