import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { shownOf } from '../../tests/shown-of.ts';
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
    [
      'a value_key at secret-key granularity',
      { value_key: 'k', granularity: 'secret-key' },
      /^value_key: requires the granularity secret-path/,
    ],
    ['an invalid granularity', { granularity: 'canary' }, /granularity: must be secret-path or secret-key/],
    ['an invalid conflict policy', { conflict_policy: 'canary' }, /conflict_policy: must be/],
    ['an invalid address', { allowed_ipv4_addresses: 'canary' }, /allowed_ipv4_addresses: must be/],
    ['an invalid port', { allowed_ports: '0' }, /allowed_ports: must be/],
    [
      'its own region as a replica',
      { region: 'eu-west-1', replica_regions: 'eu-west-1' },
      /replica_regions: must not/,
    ],
    [
      'a list of replicas with a key of one region',
      { kms_key_id: '1234abcd-12ab-34cd-56ef-1234567890ab', replica_regions: 'eu-west-2' },
      /replica_regions: must be a map/,
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

  test('stores the default template of either granularity as the default: clients send back what they were shown', () => {
    const template = 'secrets/{{ .MountAccessor }}/{{ .SecretPath }}';
    for (const secret_name_template of [template, `${template}/{{ .SecretKey }}`])
      for (const granularity of ['secret-path', 'secret-key'])
        expect(parse({ secret_name_template, granularity }).settings.secret_name_template).toBe('');
  });

  test('an empty text in a field that has none is the same as an absent field', () => {
    expect(parse({ granularity: '', conflict_policy: '' })).toEqual(parse({}));
  });
});

describe('patch', () => {
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

describe('a write that replaces the settings', () => {
  const existing = parse({
    ...keys,
    region: 'eu-central-1',
    role_arn: 'arn:aws:iam::123456789012:role/sync',
    external_id: 'x1',
    custom_tags: { team: 'a' },
    allowed_ports: [8443],
    disable_strict_networking: true,
  });
  const replace = (body: object) => parse(body, existing, false);

  test('resets what it omits, except for credentials and what cannot be changed, and says so', () => {
    const { settings, credentials, warnings } = replace({ kms_key_id: 'alias/x' });
    expect(credentials).toEqual(keys);
    expect(settings).toEqual({ ...parse({ region: 'eu-central-1' }).settings, kms_key_id: 'alias/x' });
    expect(warnings).toEqual([
      'reset to the default, because the request omits it: allowed_ports, custom_tags, disable_strict_networking, external_id, role_arn; PATCH keeps what it omits',
    ]);
  });

  test('says nothing if it changes nothing, and refuses to change what cannot be', () => {
    const { region, role_arn, external_id, custom_tags, allowed_ports } = existing.settings;
    const same = {
      region,
      role_arn,
      external_id,
      custom_tags,
      allowed_ports,
      disable_strict_networking: 'true',
    };
    expect(replace(same)).toMatchObject({ settings: existing.settings, warnings: [] });
    expect(refusal({ region: 'eu-west-1' }, existing, false)).toMatch(/region: cannot be changed/);
  });

  test('replaces the tags', () => {
    expect(replace({ custom_tags: { cost: '1' } }).settings.custom_tags).toEqual({ cost: '1' });
  });

  test('removes stored credentials that those it sets exclude, and says so', () => {
    const { role_arn } = existing.settings;
    const federated = replace({ role_arn, identity_token_audience: 'api://exchange' });
    expect(federated.credentials).toEqual({});
    expect(federated.warnings).toContain(
      'secret_access_key was removed, because it cannot be combined with what was set',
    );
    const app = { app_name: 'a', installation_id: 7, repository_owner: 'acme', repository_name: 'web' };
    const { parse: parseCodehost } = requestsOf(findDescription('codehost'));
    const withToken = parseCodehost({ access_token: 'ghp_1' }, parseCodehost(app), false);
    expect([withToken.credentials, withToken.settings.app_name]).toEqual([{ access_token: 'ghp_1' }, '']);
    expect(parseCodehost(app, withToken, false).credentials).toEqual({});
  });

  test('keeps what belongs to the stored credentials', () => {
    const { parse: parseVault } = requestsOf(findDescription('cloudB-kv'));
    const vault = { key_vault_uri: 'https://main.vault.azure.net', tenant_id: 't' };
    const stored = parseVault({ ...vault, client_id: 'c', client_secret: 's' });
    expect(parseVault({}, stored, false)).toMatchObject({
      settings: { client_id: 'c' },
      credentials: { client_secret: 's' },
    });
  });
});

describe('what is set is shown as it was given, and what is not set as empty', () => {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  const keyFile = JSON.stringify({
    type: 'service_account',
    client_email: 'sync@p.iam.gserviceaccount.com',
    private_key: pem,
    project_id: 'derived-project',
  });
  const vault = {
    key_vault_uri: 'https://Main.vault.azure.net/',
    tenant_id: 'T',
    client_id: 'c',
    client_secret: 's',
  };
  const app = { app_name: 'a', installation_id: '77' };
  const cases: [string, string, object, object][] = [
    ['cloudA-sm', 'nothing', {}, { region: '', role_arn: '', identity_token_ttl: 0 }],
    [
      'cloudA-sm',
      'a list of regions',
      { replica_regions: ['us-east-2', 'eu-west-1'] },
      { replica_regions: ['us-east-2', 'eu-west-1'] },
    ],
    [
      'cloudA-sm',
      'a map of regions',
      { replica_regions: { 'us-east-2': 'alias/x', 'eu-west-1': '' } },
      { replica_regions: { 'us-east-2': 'alias/x', 'eu-west-1': '' } },
    ],
    ['cloudA-sm', 'a lifetime of 0', { identity_token_ttl: 0 }, { identity_token_ttl: 0 }],
    ['cloudA-sm', 'the usual lifetime', { identity_token_ttl: '1h' }, { identity_token_ttl: 3_600 }],
    ['cloudB-kv', 'no cloud', vault, { ...vault, client_secret: '*****', cloud: '' }],
    ['cloudB-kv', 'the default cloud', { ...vault, cloud: 'cloud' }, { cloud: 'cloud' }],
    [
      'cloudC-sm',
      'no project',
      { credentials: keyFile },
      { project_id: '', effective_project_id: 'derived-project' },
    ],
    [
      'cloudC-sm',
      'a project',
      { credentials: keyFile, project_id: 'other-project' },
      { project_id: 'other-project', effective_project_id: 'other-project' },
    ],
    [
      'codehost',
      'a token',
      { access_token: 'ghp_1', repository_owner: 'Acme', repository_name: 'web' },
      { secrets_location: '', repository_owner: 'Acme' },
    ],
    [
      'codehost',
      'an installation',
      {
        ...app,
        repository_owner: 'acme',
        repository_name: 'web',
        secrets_location: 'environment',
        environment_name: 'Prod',
      },
      { installation_id: 77, secrets_location: 'environment', environment_name: 'Prod' },
    ],
    [
      'codehost',
      'a server',
      {
        access_token: 'ghp_1',
        repository_owner: 'acme',
        repository_name: 'web',
        enterprise_url: 'https://Git.Example.com/',
      },
      { enterprise_url: 'https://Git.Example.com/' },
    ],
    [
      'webhost-project',
      'environments',
      { access_token: 'v', project_id: 'p', deployment_environments: ['production', 'development'] },
      { deployment_environments: ['production', 'development'] },
    ],
  ];
  test.each(cases)('%s: %s', (type, _case, body, expected) => {
    const description = findDescription(type);
    const { parse: parseOf } = requestsOf(description);
    const shownAfter = ({ settings, given, credentials }: ReturnType<typeof parseOf>) => {
      const credentialNames = Object.keys(credentials);
      const view = presentDestination(description, {
        name: 'main',
        settings,
        given,
        credentialNames,
        prefix: 'secrets',
      });
      return { ...view.connection_details, ...view.options };
    };
    const created = parseOf(body);
    expect(shownAfter(created)).toMatchObject(expected);
    for (const isPatch of [true, false])
      expect(shownAfter(parseOf(body, created, isPatch))).toEqual(shownAfter(created));
    expect(shownAfter(parseOf({}, created, true))).toEqual(shownAfter(created));
    if (!('installation_id' in body)) expect(shownAfter(created)).not.toHaveProperty('installation_id');
  });

  test('unless an instance of an older version has changed it since', () => {
    const { parse: parseVault } = requestsOf(findDescription('webhost-project'));
    const { settings, given } = parseVault({
      access_token: 'v',
      project_id: 'p',
      deployment_environments: ['production', 'preview'],
    });
    const changed = { ...settings, deployment_environments: ['preview'] };
    const view = { name: 'main', settings: changed, given, credentialNames: [], prefix: 'secrets' };
    expect(presentDestination(findDescription('webhost-project'), view).connection_details).toMatchObject({
      deployment_environments: ['preview'],
    });
  });
});

test('maps may be written as pairs, as command lines do', () => {
  const pairs = { custom_tags: ['team=a', 'cost=1=2'], replica_regions: 'us-east-2=alias/x' };
  const { settings, given } = parse({ ...keys, region: 'eu-central-1', ...pairs });
  expect(settings).toMatchObject({
    custom_tags: { team: 'a', cost: '1=2' },
    replica_regions: { 'us-east-2': 'alias/x' },
  });
  expect(given.replica_regions).toEqual({ 'us-east-2': 'alias/x' });
});

test('a destination is shown with masked secrets and the default template', () => {
  const shown = shownOf(cloudASm, parse({ ...keys, region: 'us-west-1', granularity: 'secret-key' }));
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
    given: null,
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
