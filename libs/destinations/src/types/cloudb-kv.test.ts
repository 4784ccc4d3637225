import { describe, expect, test } from '@jest/globals';
import { shownOf } from '../../tests/shown-of.ts';
import { settingsOf } from '../description.ts';
import { namesOf } from '../names/names-harness.ts';
import { requestsOf } from '../request/requests-harness.ts';
import { cloudBKv } from './cloudb-kv.ts';

const required = { key_vault_uri: 'https://main.vault.azure.net', tenant_id: 'contoso.example' };
const { parse, refusal } = requestsOf(cloudBKv);

describe('key_vault_uri', () => {
  test.each([
    ['https://main.vault.azure.net', 'cloud'],
    ['https://main.vault.azure.cn', 'china'],
    ['https://main.vault.usgovcloudapi.net', 'usgovernment'],
    ['http://localhost:4997', 'cloud'],
    ['http://sandbox:8300/cloudb', 'cloud'],
    ['https://vault.internal', 'cloud'],
    ['https://vault.local:8443', 'china'],
    ['http://127.0.0.1:8300', 'cloud'],
    ['http://10.1.2.3', 'cloud'],
    ['http://172.31.0.1', 'cloud'],
    ['http://192.168.1.1', 'cloud'],
    ['http://[::1]:8300', 'cloud'],
    ['http://[fd00::1]', 'cloud'],
  ])('accepts %s for %s', (key_vault_uri, cloud) => {
    expect(parse({ ...required, key_vault_uri, cloud }).settings).toMatchObject({ key_vault_uri, cloud });
  });

  test.each([
    ['', 'cloud'],
    ['main', 'cloud'],
    ['http://main.vault.azure.net', 'cloud'],
    ['https://main.vault.azure.cn', 'cloud'],
    ['https://main.vault.azure.net', 'china'],
    ['https://main.vault.azure.net:8443', 'cloud'],
    ['https://main.vault.azure.net/secrets', 'cloud'],
    ['https://main.vault.azure.net?x=1', 'cloud'],
    ['https://user:canary@main.vault.azure.net', 'cloud'],
    ['https://user:canary@localhost', 'cloud'],
    ['https://main.vault.azure.net.evil.example', 'cloud'],
    ['https://evil.example/.vault.azure.net', 'cloud'],
    ['https://a.b.vault.azure.net', 'cloud'],
    ['https://vault.azure.net', 'cloud'],
    ['https://evilvault.azure.net', 'cloud'],
    ['https://8.8.8.8', 'cloud'],
    ['http://172.32.0.1', 'cloud'],
    ['http://169.254.169.254', 'cloud'],
    ['http://0x7f.1.evil.example', 'cloud'],
    ['ftp://localhost', 'cloud'],
  ])('refuses %s for %s, and the message names the field', (key_vault_uri, cloud) => {
    const message = refusal({ ...required, key_vault_uri, cloud });
    expect(message).toMatch(/^key_vault_uri: (is required|must be the URI of a vault)/);
    expect(message).not.toContain('canary');
  });

  test('is stored in one form', () => {
    const { settings } = parse({ ...required, key_vault_uri: ' HTTPS://Main.Vault.Azure.net:443/ ' });
    expect(settings.key_vault_uri).toBe('https://main.vault.azure.net');
  });
});

describe('a refusal names the field and contains no value', () => {
  const existing = parse(required);

  test.each<[string, object, RegExp]>([
    ['no tenant', { key_vault_uri: required.key_vault_uri }, /^tenant_id: is required/],
    ['no vault', { tenant_id: 'x' }, /^key_vault_uri: is required/],
    ['an invalid tenant', { ...required, tenant_id: '../canary' }, /^tenant_id: must be/],
    ['an invalid client ID', { ...required, client_id: 'canary!' }, /^client_id: must be/],
    [
      'a secret without a client ID',
      { ...required, client_secret: 'canary' },
      /^client_secret: requires client_id/,
    ],
    [
      'a secret from a file',
      { ...required, client_id: 'a', client_secret: '@/canary' },
      /^client_secret: begins with @/,
    ],
    [
      'an unknown cloud',
      { ...required, cloud: 'canary' },
      /^cloud: must be one of cloud, china, usgovernment/,
    ],
    [
      'a long tag',
      { ...required, custom_tags: { a: 'x'.repeat(257) } },
      /custom_tags: "a" must have a value/,
    ],
    ['a tag without a key', { ...required, custom_tags: { '': 'x' } }, /custom_tags: "" must have a key/],
    [
      'more tags than a secret has with the built-in ones',
      { ...required, custom_tags: Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`t${n}`, ''])) },
      /custom_tags: at most 13 are allowed/,
    ],
  ])('of %s', (_, body, reason) => {
    const message = refusal(body);
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/canary/);
  });

  test.each([
    ['key_vault_uri', { key_vault_uri: 'https://other.vault.azure.net' }],
    ['tenant_id', { tenant_id: 'other' }],
    ['cloud', { cloud: 'china' }],
  ])('of a change to %s', (field, body) => {
    expect(refusal(body, existing)).toMatch(new RegExp(`${field}: cannot be changed`));
    expect(refusal({ [field]: null }, parse({ ...required, ...(field === 'cloud' ? china : {}) }))).toMatch(
      new RegExp(`${field}: cannot be changed`),
    );
  });
});

const china = { key_vault_uri: 'https://main.vault.azure.cn', cloud: 'china' };

test('the secret is a credential, and shown masked', () => {
  const { settings, given, credentials } = parse({
    ...required,
    client_id: 'app',
    client_secret: 'canary',
  });
  expect(credentials).toEqual({ client_secret: 'canary' });
  const shown = shownOf(cloudBKv, { settings, given, credentials });
  expect(shown).toMatchObject({
    connection_details: {
      ...required,
      client_id: 'app',
      client_secret: '*****',
      cloud: '',
      identity_token_audience: '',
      identity_token_ttl: 0,
    },
    options: {
      granularity_level: 'secret-path',
      secret_name_template: 'secrets-{{ .MountAccessor }}-{{ .SecretPath }}',
    },
  });
  expect(JSON.stringify(shown)).not.toContain('canary');
});

test('the vault is the account, whatever the credentials', () => {
  const account = (over: object) => {
    const { settings, credentials } = parse({ ...required, ...over });
    return cloudBKv.account(settingsOf(cloudBKv, settings), credentials);
  };
  expect(account({ client_id: 'a', client_secret: 'b' })).toEqual(account({}));
  expect(account({ key_vault_uri: 'https://other.vault.azure.net' })).not.toEqual(account({}));
});

describe('names', () => {
  const named = namesOf(cloudBKv);
  const nameOf = (SecretPath: string, template?: string) => named({ SecretPath }, template);

  test('are lower-case words joined by hyphens by default', () => {
    expect(nameOf('my-secret')).toBe('secrets-kv-1234-my-secret');
    expect(nameOf('Team_A/db.main')).toBe('secrets-kv-1234-team-a-db-main');
    expect(nameOf('x'.repeat(200))).toHaveLength(127);
  });

  test('that the vault does not accept are refused', () => {
    expect(() => nameOf('a_b', '{{ .SecretPath }}')).toThrow(/may only contain letters, digits and -/);
    expect(() => nameOf('a'.repeat(128), '{{ .SecretPath }}')).toThrow(/1 to 127 characters, and has 128/);
  });

  test('collide if they differ only in case', () => {
    expect(cloudBKv.nameRule.collisionKey('A-B')).toBe(cloudBKv.nameRule.collisionKey('a-b'));
    expect([nameOf('a_b'), nameOf('A-B')]).toEqual([nameOf('a-b'), nameOf('a-b')]);
  });
});

describe('content_type and expires_after', () => {
  test.each([
    ['90d', 7_776_000],
    ['24h', 86_400],
    [0, 0],
    ['0s', 0],
    ['', 0],
  ])('a duration of %j is stored as %i seconds', (expires_after, stored) => {
    expect(parse({ ...required, expires_after }).settings).toMatchObject({ expires_after: stored });
  });

  test.each([
    [{ expires_after: '59m' }, /^expires_after: must be 0 \(no expiry\), or between 1h and 87600h/],
    [{ expires_after: '87601h' }, /^expires_after: must be 0/],
    [{ content_type: 'x'.repeat(256) }, /^content_type: must not be longer than 255 characters/],
    [{ content_type: 'application/x-PEM-file' }, /^content_type: must not be one of certificates/],
  ])('%j is refused', (fields, message) => {
    expect(refusal({ ...required, ...fields })).toMatch(message);
  });
});
