import type { RestError } from '@azure/core-rest-pipeline';
import { expect, test } from '@jest/globals';
import { errorWith, useCloudB } from './cloudb-harness.ts';

const cloudB = useCloudB();
const badParameter = errorWith(400, 'BadParameter');
const tags = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, '']));

test.each([
  ['is empty after decoding', ' '],
  ['contains an underscore', 'a_b'],
  ['contains a dot', 'a.b'],
  ['has more than 127 characters', 'x'.repeat(128)],
])('a name that %s is rejected', async (_, name) => {
  await expect(cloudB.client().setSecret(name, 'x')).rejects.toEqual(badParameter);
});

test('a value may have 25,600 bytes, counted in UTF-8, and no more', async () => {
  await expect(cloudB.client().setSecret('v', 'é'.repeat(12_801))).rejects.toEqual(badParameter);
  await cloudB.client().setSecret('v', 'é'.repeat(12_800));
  expect((await cloudB.client().getSecret('v')).value).toHaveLength(12_800);
});

test.each([
  ['more than 15 tags', tags(16)],
  ['a key of more than 256 characters', { ['k'.repeat(257)]: '' }],
  ['a value of more than 256 characters', { k: 'v'.repeat(257) }],
])('%s: rejected on a set and on an update', async (_, rejected) => {
  const client = cloudB.client();
  await expect(client.setSecret('t', 'x', { tags: rejected })).rejects.toEqual(badParameter);
  const { properties } = await client.setSecret('t', 'x', { tags: tags(15) });
  const update = client.updateSecretProperties('t', properties.version!, { tags: rejected });
  await expect(update).rejects.toEqual(badParameter);
});

test('requests that exceed the rate are throttled, and the response says how long to wait', async () => {
  await cloudB.client().setSecret('one', 'x');
  cloudB
    .sandbox()
    .cloudB.faults.add({ effect: 'rate-limit', perSecond: 400, burst: 1, retryAfterSeconds: 3 });
  await cloudB.client().getSecret('one');
  const error = await cloudB
    .client()
    .getSecret('one')
    .catch((thrown: unknown) => thrown);
  expect(error).toEqual(errorWith(429, 'Throttled'));
  expect((error as RestError).response?.headers.get('retry-after')).toBe('3');
});

test('a request without an API version is rejected', async () => {
  const sandbox = cloudB.sandbox();
  const token = await sandbox.directory.issueTokenFor('web-1', { audience: 'https://vault.azure.net' });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${sandbox.cloudBUrl}/secrets/x`, { headers });
  expect(response.status).toBe(400);
});
