import {
  RestoreSecretCommand,
  TagResourceCommand,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import { errorNamed, useCloudA } from './clouda-harness.ts';

const DAY_MS = 86_400_000;
const cloudA = useCloudA();
const restore = (SecretId: string) => cloudA.client().send(new RestoreSecretCommand({ SecretId }));

describe('with a recovery window', () => {
  test('a secret scheduled for deletion can only be described, restored or force-deleted', async () => {
    await cloudA.create({ Name: 'going' });
    await cloudA.remove('going', { RecoveryWindowInDays: 7 });
    const invalid = errorNamed('InvalidRequestException');
    await expect(cloudA.put('going', 'x')).rejects.toEqual(invalid);
    await expect(cloudA.read('going')).rejects.toEqual(invalid);
    await expect(cloudA.remove('going')).rejects.toEqual(invalid);
    const update = new UpdateSecretCommand({ SecretId: 'going' });
    await expect(cloudA.client().send(update)).rejects.toEqual(invalid);
    const tag = new TagResourceCommand({ SecretId: 'going', Tags: [] });
    await expect(cloudA.client().send(tag)).rejects.toEqual(invalid);
    expect((await cloudA.describe('going')).DeletedDate).toBeInstanceOf(Date);
  });

  test('the response states when the secret is purged', async () => {
    await cloudA.create({ Name: 'going' });
    const { DeletionDate } = await cloudA.remove('going', { RecoveryWindowInDays: 7 });
    expect((DeletionDate?.getTime() ?? 0) - Date.now()).toBeGreaterThan(6.9 * DAY_MS);
  });

  test('its name stays reserved', async () => {
    await cloudA.create({ Name: 'going' });
    await cloudA.remove('going');
    const creation = cloudA.create({ Name: 'going' });
    await expect(creation).rejects.toMatchObject({
      name: 'InvalidRequestException',
      message: expect.stringContaining('scheduled for deletion'),
    });
  });

  test('a restored secret can be used again', async () => {
    await cloudA.create({ Name: 'going' });
    await cloudA.remove('going');
    await restore('going');
    await cloudA.put('going', 'back');
    expect((await cloudA.read('going')).SecretString).toBe('back');
  });

  test('the secret is purged after 30 days by default', async () => {
    await cloudA.create({ Name: 'month' });
    await cloudA.remove('month');
    cloudA.advance(29 * DAY_MS);
    expect((await cloudA.describe('month')).DeletedDate).toBeDefined();
    cloudA.advance(2 * DAY_MS);
    await expect(cloudA.describe('month')).rejects.toEqual(errorNamed('ResourceNotFoundException'));
    await cloudA.create({ Name: 'month' });
  });
});

describe('without recovery', () => {
  const force = { ForceDeleteWithoutRecovery: true };

  test('the secret is invisible at once, but its name stays reserved for a moment', async () => {
    await cloudA.create({ Name: 'forced' });
    await cloudA.remove('forced', force);
    await expect(cloudA.create({ Name: 'forced' })).rejects.toThrow(/scheduled for deletion/);
    const notFound = errorNamed('ResourceNotFoundException');
    await expect(cloudA.describe('forced')).rejects.toEqual(notFound);
    await expect(restore('forced')).rejects.toEqual(notFound);
    cloudA.advance(60);
    await cloudA.create({ Name: 'forced', SecretString: 'anew' });
    expect((await cloudA.read('forced')).SecretString).toBe('anew');
  });

  test('a secret already scheduled for deletion can be deleted without recovery', async () => {
    await cloudA.create({ Name: 'both' });
    await cloudA.remove('both');
    await cloudA.remove('both', force);
    cloudA.advance(60);
    expect(cloudA.store().secrets()).toEqual([]);
  });
});
