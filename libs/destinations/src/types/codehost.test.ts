import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shownOf } from '../../tests/shown-of.ts';
import { settingsOf } from '../description.ts';
import { namesOf } from '../names/names-harness.ts';
import { requestsOf } from '../request/requests-harness.ts';
import { codehost } from './codehost.ts';

const access_token = 'github_pat_canary';
const repository = { repository_owner: 'acme', repository_name: 'web' };
const organization = { secrets_location: 'organization', organization_name: 'acme' };
const app = { app_name: 'sync', installation_id: 7 };

const { parse, refusal } = requestsOf(codehost);

describe('codehost: a refusal names the field and contains no value', () => {
  test.each<[string, object, RegExp]>([
    [
      'an unknown location',
      { secrets_location: 'canary' },
      /secrets_location: must be repository, environment or/,
    ],
    ['a token with blanks', { access_token: 'canary canary' }, /access_token: must not contain blanks/],
    ['an owner with a slash', { repository_owner: 'a/canary' }, /repository_owner: must be the name/],
    ['a repository with its owner', { repository_name: 'a/canary' }, /repository_name: must be the name/],
    ['a repository that is a step in a path', { repository_name: '..' }, /repository_name: must be the name/],
    ['an environment that is one', { environment_name: '..' }, /environment_name: must be the name/],
    ['a long environment', { environment_name: 'x'.repeat(256) }, /environment_name: must not be longer/],
    ['an organization with a dot', { organization_name: 'canary.' }, /organization_name: must be the name/],
    ['an unknown visibility', { organization_visibility: 'canary' }, /organization_visibility: must be all/],
    [
      'a repository list with owners',
      { selected_repository_names: 'acme/canary' },
      /selected_repository_names: must be a list/,
    ],
    ['an installation that is no number', { installation_id: 'canary' }, /installation_id: must be the num/],
    ['installation 0', { installation_id: 0 }, /installation_id: must be the number/],
    ['a server over http', { enterprise_url: 'http://canary.example' }, /enterprise_url: must be the https/],
    ['a server with a path', { enterprise_url: 'https://canary.example/api/v3' }, /enterprise_url: must be/],
    ['a server with credentials', { enterprise_url: 'https://a:canary@b.example' }, /enterprise_url: must/],
    ['a server that is no URL', { enterprise_url: 'canary' }, /enterprise_url: must be/],
    ['an invalid granularity', { granularity: 'canary' }, /granularity: must be/],
  ])('of %s', (_case, body, reason) => {
    const message = refusal({ access_token, ...repository, ...body });
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/canary/);
  });
});

describe('codehost: required fields and combinations', () => {
  test('a repository needs its owner and its name', () => {
    expect(refusal({ access_token })).toBe(
      'repository_owner: is required with secrets_location repository; repository_name: is required with secrets_location repository',
    );
  });

  test('an organization needs its name', () => {
    expect(refusal({ access_token, secrets_location: 'organization' })).toMatch(
      /^organization_name: is required/,
    );
  });

  test.each([
    [{ ...repository, organization_name: 'acme' }, /organization_name: requires secrets_location organiz/],
    [{ ...repository, organization_visibility: 'all' }, /organization_visibility: requires secrets_loc/],
    [{ ...repository, selected_repository_names: 'web' }, /selected_repository_names: requires secrets_loc/],
    [{ ...organization, ...repository }, /repository_owner: requires .*; repository_name: requires/],
    [
      { ...repository, environment_name: 'live', secrets_app: 'dependabot' },
      /^environment_name: requires secrets_app actions$/,
    ],
    [{ ...repository, secrets_app: 'canary' }, /secrets_app: must be actions, dependabot or codespaces/],
    [{ ...organization, environment_name: 'live' }, /environment_name: requires secrets_location repository/],
    [{ ...organization, organization_visibility: 'selected' }, /selected_repository_names: is required with/],
    [
      { ...organization, organization_visibility: 'all', selected_repository_names: 'web' },
      /selected_repository_names: requires organization_visibility selected/,
    ],
  ])('%j is refused', (body, reason) => {
    expect(refusal({ access_token, ...body })).toMatch(reason);
  });

  test('codehost 11: app_name and installation_id are given together, and not with access_token', () => {
    expect(refusal({ ...repository, app_name: 'sync' })).toBe('installation_id: is required with app_name');
    expect(refusal({ ...repository, installation_id: '7' })).toBe(
      'app_name: is required with installation_id',
    );
    expect(refusal({ ...repository, access_token, app_name: 'sync' })).toMatch(
      /^app_name: cannot be combined with access_token/,
    );
    expect(refusal({ ...repository, access_token, ...app })).toMatch(
      /app_name: cannot be .*; installation_id: cannot be/,
    );
    expect(refusal(repository)).toBe(
      'access_token: is required, unless app_name and installation_id are set',
    );
    expect(parse({ ...repository, ...app }).settings).toMatchObject({
      app_name: 'sync',
      installation_id: '7',
    });
  });

  test('an application is looked up by app_name', () => {
    expect(codehost.appField).toBe('app_name');
  });

  test('a token is replaced by an application in one update', () => {
    const existing = parse({ access_token, ...repository });
    expect(refusal(app, existing)).toMatch(/cannot be combined with access_token/);
    expect(parse({ ...app, access_token: '' }, existing).credentials).toEqual({});
  });
});

describe('codehost: stored destinations', () => {
  test('have defaults, lists from comma-separated strings and a server without its slash', () => {
    expect(parse({ access_token, ...repository }).settings).toMatchObject({
      secrets_location: 'repository',
      environment_name: '',
      organization_visibility: '',
      granularity: 'secret-key',
    });
    const { settings } = parse({
      access_token,
      ...organization,
      organization_visibility: 'selected',
      selected_repository_names: 'web, api',
      enterprise_url: 'https://git.example.com:8443/',
    });
    expect(settings.selected_repository_names).toEqual(['web', 'api']);
    expect(settings.enterprise_url).toBe('https://git.example.com:8443');
  });

  test.each([
    ['https://Git.Example.com', 'https://git.example.com'],
    ['https://git.example.com:443/', 'https://git.example.com'],
    ['', ''],
  ])('enterprise_url %j is stored as %j', (enterprise_url, stored) => {
    const { settings } = parse({ access_token, ...organization, enterprise_url });
    expect(settings.enterprise_url).toBe(stored);
  });

  test('tags are not a field of this type', () => {
    expect(parse({ access_token, ...repository, custom_tags: { a: 'b' } }).warnings).toEqual([
      'unknown field custom_tags was ignored',
    ]);
  });

  test('keep the place of the secrets: its fields cannot be changed', () => {
    const existing = parse({ access_token, ...repository });
    const changes = [
      { repository_owner: 'other' },
      { repository_name: 'other' },
      { environment_name: 'live' },
      { enterprise_url: 'https://git.example.com' },
      organization,
    ];
    for (const change of changes)
      expect(refusal(change, existing)).toMatch(
        new RegExp(`${Object.keys(change)[0]}: cannot be changed after`),
      );
    const shared = parse({ access_token, ...organization });
    expect(refusal({ organization_name: 'other' }, shared)).toMatch(/organization_name: cannot be changed/);
    expect(parse({ organization_visibility: 'all' }, shared).settings.organization_visibility).toBe('all');
  });

  test('are shown with the token masked', () => {
    const shown = shownOf(codehost, parse({ access_token, ...repository }));
    expect(shown).toMatchObject({
      connection_details: { access_token: '*****', repository_owner: 'acme', repository_name: 'web' },
      options: { granularity_level: 'secret-key' },
    });
    expect(JSON.stringify(shown)).not.toContain('canary');
  });
});

describe('codehost: names', () => {
  const nameOf = namesOf(codehost);

  test('the default is upper-case words joined by underscores', () => {
    expect(nameOf({ SecretKey: 'foo' })).toBe('SECRETS_KV_1234_MY_SECRET_FOO');
    expect(nameOf({})).toBe('SECRETS_KV_1234_MY_SECRET');
    expect(nameOf({ SecretKey: 'foo' }, undefined, 'github')).toBe('_GITHUB_KV_1234_MY_SECRET_FOO');
  });

  test('the default is valid for every path and key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ maxLength: 600 }), (SecretPath, SecretKey) => {
        expect(codehost.nameRule.check(nameOf({ SecretPath, SecretKey }))).toBeUndefined();
      }),
    );
  });

  test.each([
    ['{{ .SecretPath }}', /may only contain letters, digits and _/],
    ['1_{{ .SecretBaseName | replace "-" "_" }}', /must not begin with a digit/],
    ['github_{{ .SecretBaseName | replace "-" "_" }}', /must not begin with GITHUB_/],
    [`{{ .SecretBaseName | replace "-" "_" }}${'x'.repeat(300)}`, /must have 1 to 255 characters/],
  ])("the result of a user's template %s is refused", (template, reason) => {
    expect(() => nameOf({}, template)).toThrow(reason);
  });

  test('names that differ in case collide', () => {
    const { collisionKey } = codehost.nameRule;
    expect(collisionKey('a_b')).toBe(collisionKey('A_B'));
  });
});

describe('codehost 6: the account whose writes run one at a time, one second apart', () => {
  const account = (body: object) => {
    const { settings, credentials } = parse(body);
    return codehost.account(settingsOf(codehost, settings), credentials);
  };

  test('is the token or the installation, on its server', () => {
    const token = account({ access_token, ...repository });
    expect(account({ access_token, ...organization })).toEqual(token);
    expect(account({ access_token: 'other', ...repository })).not.toEqual(token);
    const enterprise_url = 'https://git.example.com';
    expect(account({ access_token, ...repository, enterprise_url })).not.toEqual(token);
    const installation = account({ ...repository, ...app });
    expect(account({ ...organization, ...app, app_name: 'renamed' })).toEqual(installation);
    expect(account({ ...repository, ...app, installation_id: 8 })).not.toEqual(installation);
  });

  test('has a budget of one write per second that do not overlap', () => {
    expect(codehost.budget).toEqual({ perSecond: 1, burst: 1, maxOutstanding: 1 });
  });
});
