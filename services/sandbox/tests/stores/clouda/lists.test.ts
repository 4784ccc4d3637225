import {
  ListSecretsCommand,
  type ListSecretsCommandInput,
  type ListSecretsCommandOutput,
} from '@aws-sdk/client-secrets-manager';
import { expect, test } from '@jest/globals';
import { errorNamed, useCloudA } from './clouda-harness.ts';

const cloudA = useCloudA();
const list = (input: ListSecretsCommandInput = {}) => cloudA.client().send(new ListSecretsCommand(input));
const names = ({ SecretList }: ListSecretsCommandOutput) => SecretList?.map(({ Name }) => Name);

test('lists are paginated in order of creation', async () => {
  for (let n = 0; n < 5; n += 1) await cloudA.create({ Name: `p${n}` });
  const first = await list({ MaxResults: 3 });
  const second = await list({ MaxResults: 3, NextToken: first.NextToken });
  expect([names(first), names(second)]).toEqual([
    ['p0', 'p1', 'p2'],
    ['p3', 'p4'],
  ]);
  expect(second.NextToken).toBeUndefined();
});

test('an invalid pagination token is rejected', async () => {
  await expect(list({ NextToken: 'made up' })).rejects.toEqual(errorNamed('InvalidParameterException'));
});

test('secrets scheduled for deletion are listed only on request', async () => {
  await cloudA.create({ Name: 'a' });
  await cloudA.create({ Name: 'b' });
  await cloudA.remove('b');
  expect(names(await list())).toEqual(['a']);
  expect(names(await list({ IncludePlannedDeletion: true }))).toEqual(['a', 'b']);
});

test('filters select by prefix', async () => {
  await cloudA.create({ Name: 'a/1', Tags: [{ Key: 'k', Value: 'v' }] });
  await cloudA.create({ Name: 'b/1' });
  expect(names(await list({ Filters: [{ Key: 'tag-key', Values: ['k'] }] }))).toEqual(['a/1']);
  expect(names(await list({ Filters: [{ Key: 'name', Values: ['b'] }] }))).toEqual(['b/1']);
  expect(names(await list({ Filters: [{ Key: 'name', Values: ['c'] }] }))).toEqual([]);
});

test('the stale-list fault returns an earlier state', async () => {
  await cloudA.create({ Name: 'old' });
  cloudA.advance(10_000);
  await cloudA.create({ Name: 'new' });
  await cloudA.remove('old', { ForceDeleteWithoutRecovery: true });
  cloudA.store().faults.add({ effect: 'stale-list', ms: 5_000, operation: 'ListSecrets' });
  expect(names(await list())).toEqual(['old']);
  cloudA.advance(1_000);
  expect(names(await list())).toEqual(['old']);
  cloudA.advance(9_000);
  expect(names(await list())).toEqual(['new']);
});
