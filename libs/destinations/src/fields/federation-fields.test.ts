import { describe, expect, test } from '@jest/globals';
import { federatedTypes, Problem } from '@secrets/domain';
import { destinationTypes, findDescription } from '../registry.ts';
import type { DestinationContent } from '../request/destination-content.ts';
import { parseDestination } from '../request/parse-destination.ts';
import { providerOf } from '../types/cloudc-sm.ts';

const provider = 'projects/123456/locations/global/workloadIdentityPools/pool/providers/secrets';
/** The fields that federation requires for each type, in addition to the audience. */
const needed: Record<(typeof federatedTypes)[number], Record<string, unknown>> = {
  'cloudA-sm': { role_arn: 'arn:aws:iam::123456789012:role/sync' },
  'cloudB-kv': { key_vault_uri: 'https://main.vault.azure.net', tenant_id: 'tenant', client_id: 'client' },
  'cloudC-sm': { project_id: 'some-project', workload_identity_provider: provider },
};

const parse = (type: string, body: Record<string, unknown>, existing?: DestinationContent) =>
  parseDestination(findDescription(type), { name: 'main', body, prefix: 'secrets', existing, isPatch: true });
const refusal = (...call: Parameters<typeof parse>): string[] => {
  try {
    parse(...call);
  } catch (error) {
    if (error instanceof Problem) return [...error.sentences];
    throw error;
  }
  return [];
};

describe.each(federatedTypes)('federation of %s', (type) => {
  const body = { ...needed[type], identity_token_audience: 'api://exchange' };

  test('needs no secret, and its tokens live an hour by default', () => {
    const { settings, credentials, warnings } = parse(type, body);
    expect(settings).toMatchObject({ identity_token_audience: 'api://exchange', identity_token_ttl: 3600 });
    expect([credentials, warnings]).toEqual([{}, []]);
  });

  test('the audience has fewer than 600 characters', () => {
    expect(refusal(type, { ...body, identity_token_audience: 'a'.repeat(599) })).toEqual([]);
    expect(refusal(type, { ...body, identity_token_audience: 'a'.repeat(600) })).toEqual([
      'identity_token_audience: must have fewer than 600 characters',
    ]);
  });

  test.each([
    ['15m', 900],
    [60, 60],
    ['86400', 86_400],
    ['2h0m0s', 7_200],
    ['0s0ns', 3_600],
  ])('the lifetime may be the duration %s', (given, seconds) => {
    expect(parse(type, { ...body, identity_token_ttl: given }).settings.identity_token_ttl).toBe(seconds);
  });

  test.each([59, '25h'])('the lifetime must not be %s', (given) => {
    expect(refusal(type, { ...body, identity_token_ttl: given })).toEqual([
      'identity_token_ttl: must be between 1m and 24h',
    ]);
  });

  test('may be set and removed again by a patch', () => {
    const existing = parse(type, body);
    const { settings } = parse(type, { identity_token_ttl: '2h' }, existing);
    expect(settings).toMatchObject({ identity_token_audience: 'api://exchange', identity_token_ttl: 7200 });
    const own = type === 'cloudC-sm' ? { workload_identity_provider: null } : {};
    const removed = parse(type, { identity_token_audience: null, ...own }, existing);
    expect(removed.settings.identity_token_audience).toBe('');
  });
});

test.each([
  ['cloudA-sm', { identity_token_audience: 'a' }, ['role_arn: is required with identity_token_audience']],
  [
    'cloudB-kv',
    { ...needed['cloudB-kv'], client_id: '', identity_token_audience: 'a' },
    ['client_id: is required with identity_token_audience'],
  ],
  [
    'cloudC-sm',
    { project_id: 'some-project', identity_token_audience: 'a' },
    [expect.stringMatching(/^workload_identity_provider: is required, unless/)],
  ],
  [
    'cloudC-sm',
    { project_id: 'some-project', service_account_email: 'sync@p.iam.gserviceaccount.com' },
    ['service_account_email: requires identity_token_audience'],
  ],
  [
    'cloudC-sm',
    { ...needed['cloudC-sm'], identity_token_audience: 'a', service_account_email: 'a/b@c' },
    [expect.stringMatching(/^service_account_email: must be the address/)],
  ],
  [
    'cloudC-sm',
    { project_id: 'some-project', identity_token_audience: 'a', workload_identity_provider: 'projects/../x' },
    [expect.stringMatching(/^workload_identity_provider: must be a provider/)],
  ],
])('%s: federation that cannot work is refused, and the field named', (type, body, sentences) => {
  expect(refusal(type, body)).toEqual(sentences);
});

test.each([
  [
    'cloudA-sm',
    { access_key_id: 'AKIA', secret_access_key: 'canary' },
    ['access_key_id', 'secret_access_key'],
  ],
  ['cloudA-sm', { external_id: 'canary' }, ['external_id']],
  ['cloudB-kv', { client_secret: 'canary' }, ['client_secret']],
] as const)('%s: federation excludes %j', (type, secrets, fields) => {
  const sentences = fields.map(
    (field) => `${field}: cannot be combined with identity_token_audience; remove one of them`,
  );
  const body = { ...needed[type], ...secrets };
  expect(refusal(type, { ...body, identity_token_audience: 'a' })).toEqual(sentences);
  const existing = parse(type, body);
  expect(refusal(type, { identity_token_audience: 'a' }, existing)).toEqual(sentences);
  const cleared = Object.fromEntries(fields.map((field) => [field, '']));
  expect(refusal(type, { identity_token_audience: 'a', ...cleared }, existing)).toEqual([]);
});

test.each(
  Object.keys(destinationTypes).filter((type) => !(federatedTypes as readonly string[]).includes(type)),
)('%s has no federation', (type) => {
  expect(refusal(type, { identity_token_audience: 'a' })).toEqual([
    `identity_token_audience: ${type} has no federation; set credentials`,
  ]);
});

test.each([
  [{ workload_identity_provider: provider, identity_token_audience: 'a' }, provider],
  [{ identity_token_audience: `//iam.googleapis.com/${provider}` }, provider],
  [{ identity_token_audience: `https://iam.googleapis.com/${provider}` }, provider],
  [{ identity_token_audience: provider }, undefined],
  [{ identity_token_audience: '//iam.googleapis.com/projects/x' }, undefined],
])('cloudC-sm: %j is exchanged by the provider %s', (settings, expected) => {
  expect(providerOf({ workload_identity_provider: '', ...settings })).toBe(expected);
});
