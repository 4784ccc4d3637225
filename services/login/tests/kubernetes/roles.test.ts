import { describe, expect, test } from '@jest/globals';
import { audience } from './cluster/service-account-tokens.ts';
import { needed, useKubernetes } from './kubernetes-for-test.ts';

const { kubernetes, login } = useKubernetes();
const write = (body: object) => login.call('POST', '/auth/kubernetes/role/new', { ...needed, ...body });

describe('a role', () => {
  test('is shown with the defaults of Vault, listed and deleted', async () => {
    await kubernetes.writeRole('Shown', { policies: 'dev', ttl: '1h' });
    expect((await login.call('GET', '/auth/kubernetes/role/shown')).body.data).toEqual({
      bound_service_account_names: ['web'],
      bound_service_account_namespaces: ['shop'],
      audience,
      alias_name_source: 'serviceaccount_uid',
      policies: ['dev'],
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 0,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: ['dev'],
      token_ttl: 3_600,
      token_type: 'default',
    });
    expect((await login.call('LIST', '/auth/kubernetes/role')).body.data.keys).toContain('shown');
    expect((await login.call('DELETE', '/auth/kubernetes/role/SHOWN')).status).toBe(204);
    expect((await login.call('GET', '/auth/kubernetes/role/shown')).status).toBe(404);
  });

  test('keeps what a write omits', async () => {
    await kubernetes.writeRole('kept', { ttl: 60 });
    await login.call('POST', '/auth/kubernetes/role/kept', { bound_service_account_names: 'api, job-*' });
    expect((await login.call('GET', '/auth/kubernetes/role/kept')).body.data).toMatchObject({
      bound_service_account_names: ['api', 'job-*'],
      bound_service_account_namespaces: ['shop'],
      token_ttl: 60,
    });
  });

  const names = 'bound_service_account_names';
  const namespaces = 'bound_service_account_namespaces';
  test.each([
    [{ [names]: undefined }, /^bound_service_account_names is required/],
    [{ [names]: [] }, /^bound_service_account_names is required/],
    [{ [namespaces]: undefined }, /^bound_service_account_namespaces is required/],
    [{ [namespaces]: '' }, /^bound_service_account_namespaces is required/],
    [{ [names]: '*', [namespaces]: '*' }, /^bound_service_account_names and .*cannot both be \*/],
    [{ [names]: ['a', '*'], [namespaces]: ['b', '**'] }, /cannot both be \*/],
    [{ [names]: 'Web' }, /^bound_service_account_names: must be names in lower case/],
    [{ [names]: 'a/b' }, /^bound_service_account_names: must be names/],
    [{ [namespaces]: 'system:x' }, /^bound_service_account_namespaces: must be names/],
    [{ [namespaces]: Array(501).fill('a') }, /^bound_service_account_namespaces: must have at most 500/],
    [{ [names]: 7.5 }, /^bound_service_account_names: /],
    [{ [`${namespaces.slice(0, -1)}_selector`]: '{"matchLabels":{"a":"b"}}' }, /is not supported here/],
    [{ audience: undefined }, /^audience is required/],
    [{ audience: '' }, /^audience is required/],
    [{ audience: '*' }, /^audience: \* is not an audience/],
    [{ audience: 'x'.repeat(2_049) }, /^audience: /],
    [{ audience: ['a'] }, /^audience: /],
    [{ alias_name_source: 'pod' }, /^alias_name_source: must be serviceaccount_uid or serviceaccount_name/],
    [{ token_policies: 'root' }, /^token_policies: a role cannot grant the root policy/],
    [{ token_ttl: '2h', token_max_ttl: '1h' }, /^token_ttl: exceeds the maximum/],
    [{ token_type: 'batch', token_period: 60 }, /^token_period: /],
    [{ token_bound_cidrs: 'x' }, /^token_bound_cidrs: /],
  ])('is refused with %j, and not stored', async (body, sentence) => {
    const answer = await write(body);
    expect([answer.status, answer.body.errors]).toEqual([400, [expect.stringMatching(sentence)]]);
    expect((await login.call('GET', '/auth/kubernetes/role/new')).status).toBe(404);
  });

  test('for every namespace is accepted with a warning', async () => {
    expect((await kubernetes.writeRole('wide', { [namespaces]: '*' })).body.warnings).toEqual([
      expect.stringMatching(/^bound_service_account_namespaces: with \*, whoever may create/),
    ]);
    expect((await kubernetes.writeRole('wide', { [names]: '*', [namespaces]: 'shop' })).status).toBe(204);
  });

  test('that was changed in the database logs nobody in', async () => {
    await kubernetes.writeRole('altered', {});
    expect((await kubernetes.logInAs({}, 'altered')).status).toBe(200);
    await login.db.query(
      `update login.kubernetes_roles set settings = settings || '{"audience": "other"}', row_hash = row_hash where name = 'altered'`,
    );
    await kubernetes.configure(); // drops what is cached
    expect((await kubernetes.logInAs({}, 'altered')).status).toBe(409);
  });
});
