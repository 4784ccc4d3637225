import { describe, expect, test } from '@jest/globals';
import { findDescription } from '../registry.ts';
import { presentDestination } from './present-destination.ts';
import { requestsOf } from './requests-harness.ts';

const cloudASm = findDescription('cloudA-sm');
const keys = { access_key_id: 'AKIACANARY', secret_access_key: 'canary-key' };
const { parse, refusal } = requestsOf(cloudASm);

describe('a refusal names the field and contains no value', () => {
  const created = parse({ ...keys, region: 'eu-central-1' });

  test.each<[string, object, RegExp]>([
    ['half a key pair', { access_key_id: 'AKIACANARY' }, /access_key_id: requires secret_access_key/],
    [
      'a mask of a value that is not stored',
      { secret_access_key: '*****' },
      /secret_access_key: \*{5} is the mask/,
    ],
    [
      'a reference to a file',
      { ...keys, secret_access_key: '@/run/keys/canary' },
      /secret_access_key: begins with @, but files are not read/,
    ],
    ['an invalid region', { region: 'evil.example/canary' }, /region: must be a region/],
    ['an invalid role', { role_arn: 'canary' }, /role_arn: must be the ARN/],
    ['an external id without a role', { external_id: 'canary' }, /external_id: requires role_arn/],
    ['days that are out of range', { recovery_window_days: '5' }, /recovery_window_days: must be 0/],
    ['an invalid granularity', { granularity: 'canary' }, /granularity: must be secret-path or secret-key/],
    ['an invalid conflict policy', { conflict_policy: 'canary' }, /conflict_policy: must be/],
    ['an invalid address', { allowed_ipv4_addresses: 'canary' }, /allowed_ipv4_addresses: must be/],
    ['an invalid port', { allowed_ports: '0' }, /allowed_ports: must be/],
    [
      'its own region as a replica',
      { region: 'eu-west-1', replica_regions: 'eu-west-1' },
      /replica_regions: must not/,
    ],
    ['a reserved tag', { custom_tags: { 'aws:a': 'canary' } }, /custom_tags: "aws:a" must not begin/],
    ['a built-in tag', { custom_tags: { 'managed-by': 'canary' } }, /set by the service itself/],
    ['tags that are not a map', { custom_tags: 'canary' }, /custom_tags: must be a map/],
    [
      'an invalid template',
      { secret_name_template: '{{ .Canary' },
      /secret_name_template: \{\{ is not closed/,
    ],
    [
      'a template whose text is not valid in a name',
      { secret_name_template: ' ' },
      /^secret_name_template: produces only invalid names, such as " ": a name may only contain/,
    ],
    ['an unknown variable', { secret_name_template: '{{ .X }}' }, /unknown variable \.X at position 4/],
    [
      'a key at secret-path granularity',
      { secret_name_template: '{{ .SecretKey }}' },
      /secret-key granularity only/,
    ],
    [
      'a template that produces the same name for two keys',
      { secret_name_template: '{{ .SecretPath }}', granularity: 'secret-key' },
      /keys must have different names, but username and password have the same/,
    ],
    [
      'a template that truncates two keys to the same name',
      { secret_name_template: '{{ .SecretKey | truncate 3 }}', granularity: 'secret-key' },
      /key_1 and key_2/,
    ],
    ['another name', { name: 'canary' }, /name: is part of the path/],
    ['several at once', { region: 'canary', role_arn: 'canary' }, /role_arn: .*; .*region: /],
  ])('of %s', (_case, body, reason) => {
    const message = refusal(body);
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/canary/);
  });

  test('of a change to an immutable field', () => {
    expect(refusal({ region: 'eu-west-1' }, created)).toMatch(/region: cannot be changed/);
    expect(refusal({ region: null }, created)).toMatch(/region: cannot be changed/);
    expect(parse({ region: 'eu-central-1' }, created).settings.region).toBe('eu-central-1');
  });

  test('of more tags than the destination accepts together with the built-in ones', () => {
    const tags = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`t${index}`, '']));
    expect(refusal({ custom_tags: tags })).toMatch(/at most 48/);
  });
});

describe('create', () => {
  test('an empty body results in the defaults', () => {
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

  test('separates credentials, parses strings leniently and names unknown fields', () => {
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

  test('stores the default template as the default', () => {
    const template = 'secrets/{{ .MountAccessor }}/{{ .SecretPath }}';
    expect(parse({ secret_name_template: template }).settings.secret_name_template).toBe('');
  });
});

describe('update', () => {
  const existing = parse({ ...keys, region: 'eu-central-1', custom_tags: { team: 'a', cost: '1' } });

  test('keeps what it omits, and what it sets to the mask', () => {
    const updated = parse({ secret_access_key: '*****', kms_key_id: 'alias/x' }, existing);
    expect(updated.credentials).toEqual(keys);
    expect(updated.settings).toEqual({ ...existing.settings, kms_key_id: 'alias/x' });
  });

  test('removes a credential that is empty or null', () => {
    expect(parse({ access_key_id: '', secret_access_key: null }, existing).credentials).toEqual({});
  });

  test('merges tags, and removes those that are null or in tags_to_remove', () => {
    const updated = parse({ custom_tags: { team: 'b', new: 'x', cost: null } }, existing);
    expect(updated.settings.custom_tags).toEqual({ team: 'b', new: 'x' });
    const removed = parse({ tags_to_remove: 'team' }, updated);
    expect(removed.settings.custom_tags).toEqual({ new: 'x' });
    expect(removed.settings).not.toHaveProperty('tags_to_remove');
  });

  test('resets a field that is null to its default', () => {
    const updated = parse({ conflict_policy: 'overwrite', allowed_ports: [8443] }, existing);
    expect(parse({ conflict_policy: null, allowed_ports: null }, updated).settings).toEqual(
      existing.settings,
    );
  });
});

test('a destination is shown with masked secrets and the default template', () => {
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

test('an unknown type is refused, and the message lists the types', () => {
  expect(() => findDescription('constructor')).toThrow(/type: must be one of cloudA-sm/);
});

test('a field named like a property of every object is unknown', () => {
  expect(parse({ ...keys, constructor: 'x', toString: 'y' }).warnings).toEqual([
    'unknown field constructor was ignored',
    'unknown field toString was ignored',
  ]);
});

test('a mask written back keeps the stored value, even if the field has a format', () => {
  const created = parse({ ...keys, region: 'eu-central-1' });
  const shown = { access_key_id: '*****', secret_access_key: '*****' };
  expect(parse(shown, created).credentials).toEqual(created.credentials);
  expect(refusal(shown)).toMatch(/access_key_id: \*{5} is the mask/);
});

test('an invalid template or tag is refused, and the message names the field', () => {
  expect(refusal({ ...keys, secret_name_template: 'a\0{{ .SecretPath }}' })).toBe(
    'secret_name_template: must not contain control characters',
  );
  expect(refusal({ ...keys, custom_tags: { a: 1 } })).toBe('custom_tags: must be a map of strings');
});
