import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { settingsOf } from '../description.ts';
import { namesOf } from '../names/names-harness.ts';
import { presentDestination } from '../request/present-destination.ts';
import { requestsOf } from '../request/requests-harness.ts';
import { foreignUrlIn, parseServiceAccount } from './cloudc-credentials.ts';
import { cloudCSm } from './cloudc-sm.ts';

const pem = (type: 'rsa' | 'ed25519') =>
  generateKeyPairSync(type as 'rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
const rsaKey = pem('rsa');
const keyFile = {
  type: 'service_account',
  project_id: 'canary-project',
  private_key_id: 'canary1',
  private_key: rsaKey,
  client_email: 'canary@canary-project.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
  auth_uri: 'https://accounts.google.com/o/oauth2/auth',
};
const keyWith = (over: object) => JSON.stringify({ ...keyFile, ...over });
const credentials = JSON.stringify(keyFile);

const keyIn = (location: string) => `projects/canary/locations/${location}/keyRings/r/cryptoKeys/k`;

const { parse, refusal } = requestsOf(cloudCSm);

describe('a refusal names the field and contains no value', () => {
  const source = (credential_source: object) =>
    JSON.stringify({ type: 'external_account', audience: '//canary', credential_source });

  test.each<[string, object, RegExp]>([
    [
      'a key of another location for all',
      { credentials, global_kms_key: keyIn('canary1') },
      /^global_kms_key: must be the full name of a key: projects\/<project>\/locations\/global/,
    ],
    [
      'a key for all beside locations',
      { credentials, global_kms_key: keyIn('global'), replication_locations: 'europe-west1' },
      /^global_kms_key: excludes replication_locations/,
    ],
    [
      'a location without a key',
      {
        credentials,
        replication_locations: 'europe-west1,europe-west3',
        locational_kms_keys: { 'europe-west1': keyIn('europe-west1') },
      },
      /^locational_kms_keys: must have a key for each/,
    ],
    [
      'a key of another location',
      {
        credentials,
        replication_locations: 'us-east1',
        locational_kms_keys: { 'us-east1': keyIn('global') },
      },
      /^locational_kms_keys: each key must be in the location that it is given for/,
    ],
    ['neither credentials nor a project', {}, /^credentials: is required, or project_id/],
    ['credentials that are no JSON', { credentials: 'canary' }, /^credentials: must be a JSON object/],
    ['credentials that are no object', { credentials: '["canary"]' }, /^credentials: must be a JSON object/],
    ['credentials that are no text', { credentials: { canary: 1 } }, /^credentials: must be a string/],
    [
      'very long credentials',
      { credentials: 'canary'.repeat(5_000) },
      /^credentials: must not be longer than 16384/,
    ],
    [
      'a reference to a file',
      { credentials: '@/run/canary.json' },
      /^credentials: begins with @, but files are not read/,
    ],
    [
      'another type',
      { credentials: keyWith({ type: 'canary' }) },
      /^credentials: type must be service_account/,
    ],
    ['no type', { credentials: keyWith({ type: undefined }) }, /^credentials: type must be service_account/],
    [
      'a person',
      { credentials: '{"type":"authorized_user","refresh_token":"canary"}' },
      /authorized_user is the identity of a person/,
    ],
    [
      'impersonation by a person',
      { credentials: '{"type":"impersonated_service_account"}' },
      /impersonated_service_account is not accepted/,
    ],
    [
      'a program',
      { credentials: source({ executable: { command: 'canary' } }) },
      /external_account runs a program/,
    ],
    ['a file', { credentials: source({ file: '/canary' }) }, /external_account reads a file/],
    ['a URL', { credentials: source({ url: 'http://canary' }) }, /external_account reads a URL/],
    [
      'the metadata of another cloud',
      { credentials: source({ environment_id: 'aws1', url: 'http://canary' }) },
      /external_account reads/,
    ],
    ['no source', { credentials: '{"type":"external_account"}' }, /external_account has no source of tokens/],
    [
      'no address',
      { credentials: keyWith({ client_email: 'canary' }) },
      /^credentials: client_email must be/,
    ],
    [
      'no key',
      { credentials: keyWith({ private_key: 'canary' }) },
      /^credentials: private_key must be an RSA key/,
    ],
    [
      'another kind of key',
      { credentials: keyWith({ private_key: pem('ed25519') }) },
      /private_key must be an RSA key/,
    ],
    [
      'another universe',
      { credentials: keyWith({ universe_domain: 'canary.example' }) },
      /^credentials: universe_domain must be googleapis.com/,
    ],
    [
      'a URL with a user',
      { credentials: keyWith({ token_uri: 'https://canary@x.example' }) },
      /^credentials: token_uri must be an/,
    ],
    [
      'another protocol',
      { credentials: keyWith({ token_uri: 'file:///canary' }) },
      /^credentials: token_uri must be an/,
    ],
    ['no URL', { credentials: keyWith({ token_uri: 'canary' }) }, /^credentials: token_uri must be an/],
    [
      'credentials without a project, and no project',
      { credentials: keyWith({ project_id: undefined }) },
      /^project_id: is required, because the credentials name no valid project/,
    ],
    [
      'credentials with an invalid project, and no project',
      { credentials: keyWith({ project_id: '../canary' }) },
      /^project_id: is required/,
    ],
    ['an invalid project', { project_id: 'Canary/..' }, /^project_id: must be the ID of a project/],
    [
      'an invalid location',
      { project_id: 'some-project', replication_locations: 'canary' },
      /^replication_locations: must be a list/,
    ],
    [
      'a location twice',
      { project_id: 'some-project', replication_locations: 'europe-west1,europe-west1' },
      /^replication_locations: must not contain a location twice/,
    ],
    [
      'a label that cannot be one',
      { project_id: 'some-project', custom_tags: { '1a': 'canary' } },
      /^custom_tags: "1a" must begin with a letter/,
    ],
    [
      'two keys that become the same label',
      { project_id: 'some-project', custom_tags: { 'My Team': 'canary', 'my-team': 'canary' } },
      /^custom_tags: "my-team" becomes the same label as another key/,
    ],
    [
      'a built-in label',
      { project_id: 'some-project', custom_tags: { 'managed-by': 'canary' } },
      /set by the service itself/,
    ],
    [
      'an invalid granularity',
      { project_id: 'some-project', granularity: 'canary' },
      /^granularity: must be/,
    ],
    [
      'a template without the key',
      { project_id: 'some-project', granularity: 'secret-key', secret_name_template: '{{ .SecretPath }}' },
      /^secret_name_template: .* keys must have different names/,
    ],
  ])('of %s', (_case, body, reason) => {
    const message = refusal(body);
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/canary/);
    expect(message).not.toContain(rsaKey.slice(40, 80));
  });

  test('of more labels than a secret can have together with the built-in ones', () => {
    const custom_tags = Object.fromEntries(Array.from({ length: 63 }, (_, index) => [`t${index}`, '']));
    expect(refusal({ project_id: 'some-project', custom_tags })).toMatch(/at most 62/);
  });
});

describe('the project', () => {
  test('is the one of the credentials unless another is given', () => {
    expect(parse({ credentials }).settings.project_id).toBe('canary-project');
    expect(parse({ credentials, project_id: 'other-project' }).settings.project_id).toBe('other-project');
    for (const project_id of ['example.com:some-project', '123456789012'])
      expect(parse({ project_id }).settings.project_id).toBe(project_id);
  });

  test('cannot be changed, not by other credentials either', () => {
    const created = parse({ credentials });
    expect(refusal({ project_id: 'other-project' }, created)).toMatch(/^project_id: cannot be changed/);
    const replaced = parse({ credentials: keyWith({ project_id: 'other-project' }) }, created);
    expect(replaced.settings.project_id).toBe('canary-project');
    const reset = { project_id: null, credentials: keyWith({ project_id: 'other-project' }) };
    expect(refusal(reset, created)).toMatch(/^project_id: cannot be changed/);
  });

  test('is the account whose budget is used', () => {
    const { settings, credentials: stored } = parse({ credentials });
    expect(cloudCSm.account(settingsOf(cloudCSm, settings), stored)).toEqual(['canary-project']);
    const regional = { ...settingsOf(cloudCSm, settings), location: 'europe-west3' };
    expect(cloudCSm.account(regional, stored)).toEqual(['canary-project', 'europe-west3']);
  });
});

test('without credentials, a destination uses those of the environment', () => {
  const created = parse({ credentials });
  expect(parse({ credentials: '' }, created).credentials).toEqual({});
  expect(parse({ credentials: null }, created).credentials).toEqual({});
  expect(parse({ credentials: '*****' }, created).credentials).toEqual({ credentials });
});

describe('location', () => {
  const regional = { credentials, location: 'europe-west3' };

  test.each([
    [{ location: 'Europe' }, /^location: must be a location such as europe-west3/],
    [{ replication_locations: 'europe-west1' }, /^replication_locations: excludes location/],
    [{ global_kms_key: keyIn('global') }, /^global_kms_key: excludes location; use locational_kms_keys/],
    [
      { locational_kms_keys: { 'europe-west1': keyIn('europe-west1') } },
      /^locational_kms_keys: must have a key for location, and no other/,
    ],
  ])('%j is refused', (fields, message) => {
    expect(refusal({ ...regional, ...fields })).toMatch(message);
  });

  test('takes the key of the location, and cannot be changed', () => {
    const locational_kms_keys = { 'europe-west3': keyIn('europe-west3') };
    const created = parse({ ...regional, locational_kms_keys });
    expect(created.settings).toMatchObject({ location: 'europe-west3', locational_kms_keys });
    expect(refusal({ location: 'europe-west1' }, created)).toMatch(/^location: cannot be changed/);
  });
});

test('locations are a list, and can be changed', () => {
  const created = parse({ project_id: 'some-project', replication_locations: 'europe-west1, us-east4' });
  expect(created.settings.replication_locations).toEqual(['europe-west1', 'us-east4']);
  expect(parse({ replication_locations: [] }, created).settings.replication_locations).toEqual([]);
});

test('a destination is shown with masked credentials', () => {
  const { settings, given } = parse({ credentials });
  const shown = presentDestination(cloudCSm, {
    name: 'main',
    settings,
    given,
    credentialNames: ['credentials'],
    prefix: 'secrets',
  });
  expect(shown.connection_details).toEqual({
    credentials: '*****',
    project_id: '',
    effective_project_id: 'canary-project',
    location: '',
    service_account_email: '',
    workload_identity_provider: '',
    identity_token_audience: '',
    identity_token_ttl: 0,
  });
  expect(shown.options).toMatchObject({
    secret_name_template: 'secrets-{{ .MountAccessor }}-{{ .SecretPath }}',
    replication_locations: [],
  });
});

describe('names', () => {
  const named = namesOf(cloudCSm);
  const nameOf = (SecretPath: string, over: object = {}) => named({ SecretPath, ...over });

  test('are normalised if they come from the default template', () => {
    expect(nameOf('my-secret')).toBe('secrets-kv_1234-my-secret');
    expect(nameOf('a/b.c', { SecretKey: 'foo' })).toBe('secrets-kv_1234-a-b-c-foo');
    expect(nameOf('ä'.repeat(300))).toHaveLength(255);
  });

  test('have 1 to 255 letters, digits, _ and -', () => {
    expect(cloudCSm.nameRule.check('aZ_9-')).toBeUndefined();
    for (const name of ['', 'a/b', 'a.b', 'ä', 'x'.repeat(256)])
      expect(cloudCSm.nameRule.check(name)).toBeDefined();
  });

  test('that differ in case are different', () => {
    expect(cloudCSm.nameRule.collisionKey('A')).not.toBe(cloudCSm.nameRule.collisionKey('a'));
  });
});

describe('URLs in credentials', () => {
  test.each([
    ['https://oauth2.googleapis.com/token', undefined, undefined],
    ['https://accounts.google.com/o', undefined, undefined],
    ['https://sandbox.example:8300/cloudc/token', 'https://sandbox.example:8300/cloudc', undefined],
    ['https://sandbox.example:8300/cloudc/token', undefined, 'token_uri'],
    ['http://sandbox.example:8300/cloudc/token', 'https://sandbox.example:8300/cloudc', 'token_uri'],
    ['http://oauth2.googleapis.com/token', undefined, 'token_uri'],
    ['https://oauth2.googleapis.com:8443/token', undefined, 'token_uri'],
    ['https://googleapis.com.evil.example/token', undefined, 'token_uri'],
    ['https://evilgoogleapis.com/token', undefined, 'token_uri'],
    ['https://evil.example/googleapis.com', undefined, 'token_uri'],
    ['http://169.254.169.254/token', undefined, 'token_uri'],
  ])('%s with the endpoint %s: the refused field is %s', (token_uri, endpoint, field) => {
    expect(foreignUrlIn(keyWith({ token_uri }), endpoint)).toBe(field);
  });

  test('are found in every field, at any depth', () => {
    const evil = 'https://evil.example/';
    expect(foreignUrlIn(keyWith({ client_x509_cert_url: evil }), undefined)).toBe('client_x509_cert_url');
    expect(foreignUrlIn(keyWith({ more: { deep: [{ anything: evil }] } }), undefined)).toBe('anything');
  });
});

test('the service account of accepted credentials has only the fields that are used', () => {
  expect(parseServiceAccount(credentials)).toEqual({
    type: 'service_account',
    client_email: keyFile.client_email,
    private_key: rsaKey,
    private_key_id: 'canary1',
    project_id: 'canary-project',
  });
});
