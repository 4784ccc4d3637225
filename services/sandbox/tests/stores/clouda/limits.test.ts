import { PutSecretValueCommand, TagResourceCommand } from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import { errorNamed, useCloudA } from './clouda-harness.ts';

const cloudA = useCloudA();

describe('names', () => {
  test.each([
    ['contains a space', 'b c'],
    ['has more than 512 characters', 'x'.repeat(513)],
    ['contains a letter outside ASCII', 'naïve'],
  ])('a name that %s is rejected', async (_, Name) => {
    await expect(cloudA.create({ Name })).rejects.toEqual(errorNamed('ValidationException'));
  });
});

describe('values', () => {
  test('an empty value is rejected', async () => {
    const creation = cloudA.create({ Name: 'v', SecretString: '' });
    await expect(creation).rejects.toEqual(errorNamed('ValidationException'));
  });

  test('a value may have 65,536 bytes, counted in UTF-8, and no more', async () => {
    const tooLarge = cloudA.create({ Name: 'v', SecretString: 'é'.repeat(32_769) });
    await expect(tooLarge).rejects.toEqual(errorNamed('ValidationException'));
    await cloudA.create({ Name: 'v', SecretString: 'é'.repeat(32_768) });
    expect((await cloudA.read('v')).SecretString).toHaveLength(32_768);
  });

  test('a text and a binary value together are rejected', async () => {
    const both = cloudA.create({ Name: 'b', SecretBinary: Buffer.from('x') });
    await expect(both).rejects.toEqual(errorNamed('InvalidParameterException'));
  });

  test('a put without a value is rejected', async () => {
    await cloudA.create({ Name: 'b' });
    const neither = cloudA.client().send(new PutSecretValueCommand({ SecretId: 'b' }));
    await expect(neither).rejects.toEqual(errorNamed('InvalidRequestException'));
  });
});

describe('tags', () => {
  const fiftyOne = Array.from({ length: 51 }, (_, n) => ({ Key: `k${n}`, Value: '' }));

  test.each([
    ['more than 50 tags', fiftyOne, 'InvalidParameterException'],
    ['a key with a reserved prefix', [{ Key: 'aws:x', Value: '' }], 'InvalidParameterException'],
    ['a key of more than 128 characters', [{ Key: 'k'.repeat(129), Value: '' }], 'ValidationException'],
    ['a value of more than 256 characters', [{ Key: 'k', Value: 'v'.repeat(257) }], 'ValidationException'],
  ])('%s: rejected on creation and on tagging', async (_, Tags, error) => {
    await expect(cloudA.create({ Name: 't', Tags })).rejects.toEqual(errorNamed(error));
    await cloudA.create({ Name: 't' });
    const tagging = cloudA.client().send(new TagResourceCommand({ SecretId: 't', Tags }));
    await expect(tagging).rejects.toEqual(errorNamed(error));
  });
});

describe('requests', () => {
  test('a client request token of fewer than 32 characters is rejected', async () => {
    const creation = cloudA.create({ Name: 'tk', ClientRequestToken: 'x'.repeat(31) });
    await expect(creation).rejects.toEqual(errorNamed('InvalidParameterException'));
  });

  test.each([
    ['of less than 7 days', { RecoveryWindowInDays: 6 }],
    ['of more than 30 days', { RecoveryWindowInDays: 31 }],
    ['together with a forced deletion', { RecoveryWindowInDays: 7, ForceDeleteWithoutRecovery: true }],
  ])('a recovery window %s is rejected', async (_, input) => {
    await cloudA.create({ Name: 'w' });
    await expect(cloudA.remove('w', input)).rejects.toEqual(errorNamed('InvalidParameterException'));
  });

  test('an absent secret is not found, except by a forced deletion', async () => {
    const notFound = errorNamed('ResourceNotFoundException');
    await expect(cloudA.describe('none')).rejects.toEqual(notFound);
    await expect(cloudA.put('none', 'x')).rejects.toEqual(notFound);
    await expect(cloudA.remove('none')).rejects.toEqual(notFound);
    const forced = cloudA.remove('none', { ForceDeleteWithoutRecovery: true });
    await expect(forced).resolves.toMatchObject({ Name: 'none' });
  });
});
