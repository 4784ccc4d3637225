import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { settingsOf } from '../description.ts';
import { namesOf } from '../names/names-harness.ts';
import { presentDestination } from '../request/present-destination.ts';
import { requestsOf } from '../request/requests-harness.ts';
import { webhostProject } from './webhost-project.ts';

const complete = {
  access_token: 'canary-token',
  project_id: 'prj_1234',
  deployment_environments: ['production', 'preview'],
};
const { parse, refusal } = requestsOf(webhostProject);

describe('a refusal names the field and contains no value', () => {
  test.each<[string, object, RegExp]>([
    ['no access_token', { access_token: '' }, /^access_token: is required$/],
    ['no project_id', { project_id: '' }, /^project_id: is required$/],
    [
      'no deployment_environments',
      { deployment_environments: [] },
      /^deployment_environments: is required; it is a list of/,
    ],
    [
      'deployment_environments that are reset',
      { deployment_environments: null },
      /^deployment_environments: is required/,
    ],
    [
      'an unknown environment',
      { deployment_environments: 'canary' },
      /^deployment_environments: must be a list of development/,
    ],
    [
      'environments that are not a list',
      { deployment_environments: 7 },
      /^deployment_environments: must be a list of strings/,
    ],
    ['an invalid project_id', { project_id: 'a/../canary' }, /^project_id: must be the ID of a project/],
    [
      'a project_id that is a step to another path',
      { project_id: '..' },
      /^project_id: must be the ID of a project/,
    ],
    [
      'sensitive for development',
      { sensitive: true, deployment_environments: ['development'] },
      /^sensitive: cannot be combined with development/,
    ],
    [
      'a branch for production',
      { git_branch: 'a' },
      /^git_branch: requires that deployment_environments is preview/,
    ],
    [
      'a branch with a custom environment',
      { git_branch: 'a', deployment_environments: ['preview'], custom_environment_ids: ['env_1'] },
      /^git_branch: requires/,
    ],
    [
      'the name of an environment',
      { custom_environment_ids: ['canary'] },
      /^custom_environment_ids: must be a list/,
    ],
    ['a long branch', { git_branch: 'b'.repeat(251) }, /^git_branch: must not be longer than 250/],
    ['a key that the type does not use', { kms_key_id: 'canary' }, /^kms_key_id: is not supported here/],
    ['an invalid team_id', { team_id: 'a canary' }, /^team_id: must be the ID of a team/],
    [
      'a token of another form',
      { access_token: 'canary\u0001' },
      /^access_token: must not contain control characters/,
    ],
    ['a reference to a file', { access_token: '@/run/keys/canary' }, /^access_token: begins with @/],
    [
      'a template that does not distinguish keys',
      { secret_name_template: 'X_{{ .SecretPath }}' },
      /^secret_name_template:/,
    ],
  ])('%s', (_, over, sentence) => {
    const refused = refusal({ ...complete, ...over });
    expect(refused).toMatch(sentence);
    expect(refused).not.toContain('canary');
  });

  test('everything that is missing is named at once', () => {
    expect(refusal({})).toBe(
      'access_token: is required; project_id: is required; deployment_environments: is required; it is a list of development, preview, production',
    );
  });

  test('project_id cannot be changed after creation, and the other fields can', () => {
    const created = parse(complete);
    expect(refusal({ project_id: 'prj_other' }, created)).toBe(
      'project_id: cannot be changed after the destination is created',
    );
    const changed = parse({ team_id: 'team_1', deployment_environments: 'development' }, created);
    expect(changed.settings).toMatchObject({ team_id: 'team_1', deployment_environments: ['development'] });
    expect(changed.credentials).toEqual(created.credentials);
  });

  test('tags are not supported: custom_tags is an unknown field', () => {
    expect(parse({ ...complete, custom_tags: { a: 'b' } }).warnings).toEqual([
      'unknown field custom_tags was ignored',
    ]);
  });
});

test('environments may be one text, in any order and repeated', () => {
  const { settings } = parse({ ...complete, deployment_environments: 'production,development , production' });
  expect(settings.deployment_environments).toEqual(['development', 'production']);
});

test('a destination is shown with a masked token, its defaults and the default template', () => {
  const { settings, given, credentials } = parse(complete);
  const view = {
    name: 'main',
    settings,
    given,
    credentialNames: Object.keys(credentials),
    prefix: 'secrets',
  };
  const { connection_details, options } = presentDestination(webhostProject, view);
  expect(connection_details).toEqual({
    access_token: '*****',
    project_id: 'prj_1234',
    team_id: '',
    deployment_environments: ['production', 'preview'],
    custom_environment_ids: [],
    git_branch: '',
    sensitive: false,
  });
  expect(options).toMatchObject({
    granularity_level: 'secret-key',
    secret_name_template:
      'SECRETS_{{ .MountAccessor | uppercase }}_{{ .SecretPath | uppercase }}_{{ .SecretKey | uppercase }}',
  });
});

test('destinations share a budget if they have the same team, or the same token without a team', () => {
  const account = (team_id: string, access_token: string) =>
    webhostProject.account(settingsOf(webhostProject, { team_id }), { access_token });
  expect(account('team_1', 'a')).toEqual(account('team_1', 'b'));
  expect(account('', 'a')).toEqual(account('', 'a'));
  const distinct = [account('team_1', 'a'), account('team_2', 'a'), account('', 'a'), account('', 'team_1')];
  expect(new Set(distinct.map(String)).size).toBe(4);
});

describe('names', () => {
  const nameOf = namesOf(webhostProject);

  test('the default name has upper-case words that are joined by underscores', () => {
    expect(nameOf({ SecretKey: 'foo' })).toBe('SECRETS_KV_1234_MY_SECRET_FOO');
    expect(nameOf({ SecretPath: 'a/! b' })).toBe('SECRETS_KV_1234_A___B');
  });

  test('the default name is valid for every path and key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }), (text) => {
        expect(webhostProject.nameRule.check(nameOf({ SecretPath: text, SecretKey: text }))).toBeUndefined();
      }),
    );
  });

  test.each([
    ['1A', /must not begin with a digit/],
    ['A-B', /may only contain letters, digits and _/],
    ['A'.repeat(257), /1 to 256 characters, and has 257/],
    ['AWS_SECRET_KEY', /is reserved by the provider/],
  ])('the name %j is refused', (name, reason) => {
    expect(() => nameOf({ SecretPath: name }, '{{ .SecretPath }}')).toThrow(reason);
  });

  test('names that differ in case are different', () => {
    const { collisionKey } = webhostProject.nameRule;
    expect(collisionKey('a_b')).not.toBe(collisionKey('A_B'));
  });
});
