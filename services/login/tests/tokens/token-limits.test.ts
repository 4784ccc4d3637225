import { describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { createIn, useLogin } from '../login-for-test.ts';

const login = useLogin();
const create = createIn(login);

describe('a token without sudo is refused a child', () => {
  test.each<[string, object, number, RegExp]>([
    ["with policies beyond the parent's", { policies: 'ops' }, 400, /must be a subset/],
    ['with the root policy', { policies: ['root'] }, 403, /only a root token/],
    ['without a parent', { no_parent: true }, 403, /no_parent: needs sudo/],
    ['with a period', { period: '1h' }, 403, /period: needs sudo/],
    ['with a chosen ID', { id: 'my-own-token-of-20-characters' }, 403, /id: needs sudo/],
    ['with a negative TTL', { ttl: -1 }, 400, /ttl/],
    ['with an invalid CIDR', { bound_cidrs: ['10.0.0.0/99'] }, 400, /bound_cidrs/],
    ['with an octal CIDR', { bound_cidrs: '010.0.0.0/8' }, 400, /bound_cidrs/],
    ['of an unknown type', { type: 'other' }, 400, /type/],
    ['of type batch with limited uses', { type: 'batch', num_uses: 1 }, 400, /num_uses/],
    ['with a negative number of uses', { num_uses: -1 }, 400, /num_uses/],
  ])('%s', async (_what, request, status, sentence) => {
    const caller = login.callerOf(await create({ policies: 'dev' }));
    const refused = await login.call('POST', '/auth/token/create', request, caller);
    expect(refused.status).toBe(status);
    expect(refused.body.errors[0]).toMatch(sentence);
  });
});

test('a token with limited uses cannot create tokens', async () => {
  const caller = login.callerOf(await create({ policies: 'dev', num_uses: 5 }));
  const { status, body } = await login.call('POST', '/auth/token/create', {}, caller);
  expect([status, body.errors]).toEqual([400, ['a token with limited uses cannot create tokens']]);
});

test('a batch token cannot create tokens', async () => {
  const batch = testCaller({ accessor: null, tokenType: 'batch' });
  const { status, body } = await login.call('POST', '/auth/token/create', {}, batch);
  expect([status, body.errors]).toEqual([400, ['a batch token cannot create tokens']]);
});

test.each(['service', 'batch'])('a %s token has the bound addresses of its parent', async (type) => {
  const parent = login.callerOf(await create({ policies: 'dev', bound_cidrs: '10.0.0.0/8' }));
  const { client_token: token } = (await create({ type }, parent)).body.auth;
  const found = await login.call('POST', '/auth/token/lookup', { token });
  expect(found.body.data.bound_cidrs).toEqual(['10.0.0.0/8']);
  const wider = await login.call('POST', '/auth/token/create', { type, bound_cidrs: '0.0.0.0/0' }, parent);
  expect([wider.status, wider.body.errors]).toEqual([
    400,
    ["bound_cidrs must lie within the parent token's"],
  ]);
});

test.each([
  [51, 1, 'policies: must have at most 50 names'],
  [50, 128, 'policies: must have at most 4096 characters together'],
])('%i policies of %i characters are refused', async (count, length, sentence) => {
  const policies = Array.from({ length: count }, (_, index) => `${index}`.padStart(length, 'p'));
  const { status, body } = await login.call('POST', '/auth/token/create', { policies });
  expect([status, body.errors]).toEqual([400, [sentence]]);
});

test('more than 100 bound addresses are refused', async () => {
  const cidrs = (count: number) => Array.from({ length: count }, (_, index) => `10.0.${index}.0/24`);
  await create({ policies: 'dev', bound_cidrs: cidrs(100) });
  const { status, body } = await login.call('POST', '/auth/token/create', { bound_cidrs: cidrs(101) });
  expect([status, body.errors]).toEqual([400, ['bound_cidrs: must have at most 100 CIDRs or addresses']]);
});
