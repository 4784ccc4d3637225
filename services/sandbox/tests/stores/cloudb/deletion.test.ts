import { expect, test } from '@jest/globals';
import { cloudBClient, errorWith, useCloudB } from './cloudb-harness.ts';

const DAY_MS = 86_400_000;
const cloudB = useCloudB();
const notFound = errorWith(404, 'SecretNotFound');
const conflict = (innerCode: string) => errorWith(409, 'Conflict', innerCode);

test('a secret that is being deleted is in no list, and its name cannot be used', async () => {
  const client = cloudB.client();
  await client.setSecret('db', 'one');
  await client.beginDeleteSecret('db');
  await expect(client.getSecret('db')).rejects.toEqual(notFound);
  await expect(client.getDeletedSecret('db')).rejects.toEqual(notFound);
  await expect(client.setSecret('db', 'two')).rejects.toEqual(conflict('ObjectIsBeingDeleted'));
  await expect(client.purgeDeletedSecret('db')).rejects.toEqual(conflict('ObjectIsBeingDeleted'));
});

test('a deleted secret can be recovered, and is not usable until it is', async () => {
  const client = cloudB.client();
  await client.setSecret('db', 'one', { tags: { team: 'a' } });
  await cloudB.remove('db');
  expect((await client.getDeletedSecret('db')).properties).toMatchObject({ tags: { team: 'a' } });
  await expect(client.getSecret('db')).rejects.toEqual(notFound);
  await expect(client.setSecret('db', 'two')).rejects.toEqual(conflict('ObjectIsDeletedButRecoverable'));
  await expect(client.beginDeleteSecret('db')).rejects.toEqual(notFound);
  await client.beginRecoverDeletedSecret('db');
  await expect(client.getSecret('db')).rejects.toEqual(notFound);
  await expect(client.setSecret('db', 'two')).rejects.toEqual(conflict('ObjectIsBeingRecovered'));
  cloudB.advance(1_001);
  expect((await client.getSecret('db')).value).toBe('one');
  await client.setSecret('db', 'two');
});

test('a purged secret leaves its name free, after a moment', async () => {
  const client = cloudB.client();
  await client.setSecret('db', 'one');
  await cloudB.remove('db');
  await client.purgeDeletedSecret('db');
  await expect(client.getDeletedSecret('db')).rejects.toEqual(notFound);
  await expect(client.setSecret('db', 'two')).rejects.toEqual(conflict('ObjectIsBeingDeleted'));
  cloudB.advance(1_001);
  await client.setSecret('db', 'two');
  expect(cloudB.sandbox().cloudB.secrets()).toMatchObject([{ version_count: 1 }]);
});

test('a deleted secret is purged after 90 days by default', async () => {
  await cloudB.client().setSecret('db', 'one');
  await cloudB.remove('db');
  cloudB.advance(89 * DAY_MS);
  const later = cloudBClient(cloudB.sandbox());
  const { deletedOn, scheduledPurgeDate } = await later.getDeletedSecret('db');
  expect(Number(scheduledPurgeDate) - Number(deletedOn)).toBe(90 * DAY_MS);
  cloudB.advance(2 * DAY_MS);
  await expect(cloudBClient(cloudB.sandbox()).getDeletedSecret('db')).rejects.toEqual(notFound);
});

const protectedVault = useCloudB({ purgeProtection: true });

test('purge protection forbids a purge', async () => {
  const client = protectedVault.client();
  await client.setSecret('db', 'one');
  await protectedVault.remove('db');
  const refused = errorWith(403, 'Forbidden', 'ForbiddenByPolicy');
  await expect(client.purgeDeletedSecret('db')).rejects.toEqual(refused);
  expect((await client.getDeletedSecret('db')).name).toBe('db');
});

test('an absent secret is not found', async () => {
  const client = cloudB.client();
  for (const call of [
    client.getSecret('none'),
    client.beginDeleteSecret('none'),
    client.getDeletedSecret('none'),
    client.purgeDeletedSecret('none'),
    client.beginRecoverDeletedSecret('none'),
  ])
    await expect(call).rejects.toEqual(notFound);
});
