import { describe, expect, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { findDescription } from '../registry.ts';
import { type DestinationContent, parseDestination } from './parse-destination.ts';
import { presentDestination } from './present-destination.ts';

const cloudASm = findDescription('cloudA-sm');
const keys = { access_key_id: 'AKIACANARY', secret_access_key: 'canary-key' };
const parse = (body: object, existing?: DestinationContent) =>
  parseDestination(cloudASm, { name: 'main', body: { ...body }, prefix: 'secrets', existing });

function refusal(body: object, existing?: DestinationContent): string {
  try {
    parse(body, existing);
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect((error as Problem).kind).toBe('invalid');
    return (error as Problem).sentences.join('; ');
  }
  throw new Error('was not refused');
}

describe('refused, with the field named and no value shown', () => {
  const created = parse({ ...keys, region: 'eu-central-1' });

  test.each<[string, object, RegExp]>([
    ['half a key pair', { access_key_id: 'AKIACANARY' }, /access_key_id: comes together/],
    ['a mask without anything behind it', { secret_access_key: '*****' }, /secret_access_key: \*{5} is how/],
    [
      'a reference to a file',
      { ...keys, secret_access_key: '@/run/keys/canary' },
      /secret_access_key: begins with @, and files are not read/,
    ],
    ['a region that is none', { region: 'evil.example/canary' }, /region: must be a region/],
    ['a role that is none', { role_arn: 'canary' }, /role_arn: must be the ARN/],
    ['an external id without a role', { external_id: 'canary' }, /external_id: needs role_arn/],
    ['days out of range', { recovery_window_days: '5' }, /recovery_window_days: must be 0/],
    [
      'a granularity that is none',
      { granularity: 'canary' },
      /granularity: must be secret-path or secret-key/,
    ],
    ['a policy that is none', { conflict_policy: 'canary' }, /conflict_policy: must be/],
    ['an address that is none', { allowed_ipv4_addresses: 'canary' }, /allowed_ipv4_addresses: must be/],
    ['a port that is none', { allowed_ports: '0' }, /allowed_ports: must be/],
    [
      'its own region as a replica',
      { region: 'eu-west-1', replica_regions: 'eu-west-1' },
      /replica_regions: must not/,
    ],
    ['a reserved tag', { custom_tags: { 'aws:a': 'canary' } }, /custom_tags: "aws:a" must not begin/],
    ['a tag of ours', { custom_tags: { 'managed-by': 'canary' } }, /set by the service itself/],
    ['tags that are no map', { custom_tags: 'canary' }, /custom_tags: must be a map/],
    [
      'a template that is none',
      { secret_name_template: '{{ .Canary' },
      /secret_name_template: \{\{ is not closed/,
    ],
    ['an unknown variable', { secret_name_template: '{{ .X }}' }, /unknown variable \.X at position 4/],
    [
      'a key where there is none',
      { secret_name_template: '{{ .SecretKey }}' },
      /secret-key granularity only/,
    ],
    [
      'keys that meet',
      { secret_name_template: '{{ .SecretPath }}', granularity: 'secret-key' },
      /cannot tell keys apart: username and password/,
    ],
    [
      'keys that meet after they are cut',
      { secret_name_template: '{{ .SecretKey | truncate 3 }}', granularity: 'secret-key' },
      /key_1 and key_2/,
    ],
    [
      'federation',
      { identity_token_audience: 'canary' },
      /identity_token_audience: federation is not available/,
    ],
    ['another name', { name: 'canary' }, /name: is in the path/],
    ['several at once', { region: 'canary', role_arn: 'canary' }, /role_arn: .*; .*region: /],
  ])('%s', (_case, body, reason) => {
    const said = refusal(body);
    expect(said).toMatch(reason);
    expect(said).not.toMatch(/canary/);
  });

  test('what cannot change after creation', () => {
    expect(refusal({ region: 'eu-west-1' }, created)).toMatch(/region: cannot be changed/);
    expect(refusal({ region: null }, created)).toMatch(/region: cannot be changed/);
    expect(parse({ region: 'eu-central-1' }, created).settings.region).toBe('eu-central-1');
  });

  test('more tags than the destination takes beside ours', () => {
    const tags = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`t${index}`, '']));
    expect(refusal({ custom_tags: tags })).toMatch(/at most 48/);
  });
});

describe('create', () => {
  test('nothing given is a destination with defaults', () => {
    const { settings, credentials, warnings } = parse({});
    expect(settings).toMatchObject({
      region: '',
      granularity: 'secret-path',
      conflict_policy: 'refuse',
      recovery_window_days: 0,
      custom_tags: {},
      allowed_ports: [],
    });
    expect(credentials).toEqual({});
    expect(warnings).toEqual([]);
  });

  test('secrets are kept apart, scalars are lenient, unknown fields are named', () => {
    const parsed = parse({
      ...keys,
      replica_regions: 'eu-west-1, eu-west-2',
      allowed_ports: '8443,9000',
      recovery_window_days: '7',
      disable_strict_networking: 'true',
      colour: 'red',
    });
    expect(parsed.credentials).toEqual(keys);
    expect(JSON.stringify(parsed.settings)).not.toMatch(/canary/i);
    expect(parsed.settings).toMatchObject({
      replica_regions: ['eu-west-1', 'eu-west-2'],
      allowed_ports: [8443, 9000],
      recovery_window_days: 7,
      disable_strict_networking: true,
    });
    expect(parsed.warnings).toEqual(['unknown field colour was ignored']);
  });

  test('the default template written out is the default', () => {
    const template = 'secrets/{{ .MountAccessor }}/{{ .SecretPath }}';
    expect(parse({ secret_name_template: template }).settings.secret_name_template).toBe('');
  });
});

describe('update', () => {
  const existing = parse({ ...keys, region: 'eu-central-1', custom_tags: { team: 'a', cost: '1' } });

  test('keeps what it omits, and the mask changes nothing', () => {
    const updated = parse({ secret_access_key: '*****', kms_key_id: 'alias/x' }, existing);
    expect(updated.credentials).toEqual(keys);
    expect(updated.settings).toEqual({ ...existing.settings, kms_key_id: 'alias/x' });
  });

  test('an empty or null secret takes it away', () => {
    expect(parse({ access_key_id: '', secret_access_key: null }, existing).credentials).toEqual({});
  });

  test('tags merge; tags_to_remove and null take away, and tags_to_remove is not kept', () => {
    const updated = parse({ custom_tags: { team: 'b', new: 'x', cost: null } }, existing);
    expect(updated.settings.custom_tags).toEqual({ team: 'b', new: 'x' });
    const removed = parse({ tags_to_remove: 'team' }, updated);
    expect(removed.settings.custom_tags).toEqual({ new: 'x' });
    expect(removed.settings).not.toHaveProperty('tags_to_remove');
  });

  test('null brings a field back to its default', () => {
    const updated = parse({ conflict_policy: 'overwrite', allowed_ports: [8443] }, existing);
    expect(parse({ conflict_policy: null, allowed_ports: null }, updated).settings).toEqual(
      existing.settings,
    );
  });
});

test('a destination is shown without its secrets and with the default template written out', () => {
  const { settings, credentials } = parse({ ...keys, region: 'us-west-1', granularity: 'secret-key' });
  const shown = presentDestination(cloudASm, {
    name: 'main',
    settings,
    credentialNames: Object.keys(credentials),
    prefix: 'secrets',
  });
  expect(shown).toMatchObject({
    type: 'cloudA-sm',
    name: 'main',
    connection_details: {
      access_key_id: '*****',
      secret_access_key: '*****',
      region: 'us-west-1',
      role_arn: '',
    },
    options: {
      granularity_level: 'secret-key',
      secret_name_template: 'secrets/{{ .MountAccessor }}/{{ .SecretPath }}/{{ .SecretKey }}',
      custom_tags: {},
      conflict_policy: 'refuse',
      recovery_window_days: 0,
    },
  });
  expect(JSON.stringify(shown)).not.toMatch(/canary/i);
  const bare = presentDestination(cloudASm, {
    name: 'x',
    settings: {},
    credentialNames: [],
    prefix: 'secrets',
  });
  expect(bare.connection_details).not.toHaveProperty('access_key_id');
});

test('an unknown type is refused with the list of types', () => {
  expect(() => findDescription('constructor')).toThrow(/type: must be one of cloudA-sm/);
});

test('a field named like what every object has is an unknown one', () => {
  expect(parse({ ...keys, constructor: 'x', toString: 'y' }).warnings).toEqual([
    'unknown field constructor was ignored',
    'unknown field toString was ignored',
  ]);
});

test('every masked field written back keeps what is stored, whatever form the field must have', () => {
  const created = parse({ ...keys, region: 'eu-central-1' });
  const shown = { access_key_id: '*****', secret_access_key: '*****' };
  expect(parse(shown, created).credentials).toEqual(created.credentials);
  expect(refusal(shown)).toMatch(/access_key_id: \*{5} is how/);
});

test('a template or a tag of the wrong kind is refused with the field named', () => {
  expect(refusal({ ...keys, secret_name_template: 'a\0{{ .SecretPath }}' })).toBe(
    'secret_name_template: must not hold control characters',
  );
  expect(refusal({ ...keys, custom_tags: { a: 1 } })).toBe('custom_tags: must be a map of strings');
});
