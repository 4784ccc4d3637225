import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  RemoveRegionsFromReplicationCommand,
  ReplicateSecretToRegionsCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { errorNamed, useCloudA } from './clouda-harness.ts';

const cloudA = useCloudA();
const REPLICA_REGION = 'us-east-1';

let elsewhere: SecretsManagerClient;

beforeEach(() => {
  elsewhere = cloudA.clientFor(REPLICA_REGION);
});
afterEach(() => elsewhere.destroy());

const replicate = (SecretId: string, ForceOverwriteReplicaSecret = false) =>
  cloudA.client().send(
    new ReplicateSecretToRegionsCommand({
      SecretId,
      AddReplicaRegions: [{ Region: REPLICA_REGION }],
      ForceOverwriteReplicaSecret,
    }),
  );
const replicationStatus = async (SecretId: string) =>
  (await cloudA.describe(SecretId)).ReplicationStatus?.map(({ Region, Status }) => [Region, Status]);

test('a secret is visible only in its own region', async () => {
  await cloudA.create({ Name: 'here' });
  const reading = elsewhere.send(new DescribeSecretCommand({ SecretId: 'here' }));
  await expect(reading).rejects.toEqual(errorNamed('ResourceNotFoundException'));
});

describe('a replica', () => {
  test('returns the current value of its primary', async () => {
    await cloudA.create({ Name: 'rep' });
    await replicate('rep');
    await cloudA.put('rep', 'two');
    const read = await elsewhere.send(new GetSecretValueCommand({ SecretId: 'rep' }));
    expect(read.SecretString).toBe('two');
  });

  test('cannot be written', async () => {
    await cloudA.create({ Name: 'rep' });
    await replicate('rep');
    const writing = elsewhere.send(new PutSecretValueCommand({ SecretId: 'rep', SecretString: 'x' }));
    await expect(writing).rejects.toEqual(errorNamed('InvalidRequestException'));
  });

  test('prevents the deletion of its primary until it is removed', async () => {
    await cloudA.create({ Name: 'rep' });
    await replicate('rep');
    for (const input of [{}, { ForceDeleteWithoutRecovery: true }])
      await expect(cloudA.remove('rep', input)).rejects.toThrow(/replica regions/);
    const RemoveReplicaRegions = [REPLICA_REGION];
    await cloudA
      .client()
      .send(new RemoveRegionsFromReplicationCommand({ SecretId: 'rep', RemoveReplicaRegions }));
    await cloudA.remove('rep', { ForceDeleteWithoutRecovery: true });
    const reading = elsewhere.send(new DescribeSecretCommand({ SecretId: 'rep' }));
    await expect(reading).rejects.toEqual(errorNamed('ResourceNotFoundException'));
  });

  test('is in progress for the configured time, then in sync', async () => {
    await cloudA.create({ Name: 'rep' });
    await replicate('rep');
    cloudA.advance(999);
    expect(await replicationStatus('rep')).toEqual([[REPLICA_REGION, 'InProgress']]);
    cloudA.advance(1);
    expect(await replicationStatus('rep')).toEqual([[REPLICA_REGION, 'InSync']]);
  });

  test.each([
    ['fails', false, 'Failed'],
    ['succeeds with the overwrite option', true, 'InSync'],
  ])('in a region that has its own secret with this name %s', async (_, overwrite, status) => {
    await elsewhere.send(new CreateSecretCommand({ Name: 'own', SecretString: 'theirs' }));
    await cloudA.create({ Name: 'own' });
    expect((await replicate('own', overwrite)).ReplicationStatus).toMatchObject([{ Status: 'InProgress' }]);
    cloudA.advance(1_000);
    expect(await replicationStatus('own')).toEqual([[REPLICA_REGION, status]]);
  });
});

describe('a region that does not exist', () => {
  test('does not respond', async () => {
    const nowhere = cloudA.clientFor('eu-central-9');
    await expect(nowhere.send(new DescribeSecretCommand({ SecretId: 'x' }))).rejects.toThrow(
      /ECONNRESET|hang up/,
    );
    nowhere.destroy();
  });

  test('cannot have replicas', async () => {
    await cloudA.create({ Name: 'rep' });
    const AddReplicaRegions = [{ Region: 'eu-central-9' }];
    const replicating = cloudA
      .client()
      .send(new ReplicateSecretToRegionsCommand({ SecretId: 'rep', AddReplicaRegions }));
    await expect(replicating).rejects.toEqual(errorNamed('InvalidParameterException'));
  });
});

describe('a key', () => {
  test.each([
    ['alias/missing', 'InvalidParameterException'],
    ['sandbox', 'InvalidParameterException'],
    ['0987dcba-09fe-87dc-65ba-000000000000', 'InvalidParameterException'],
    ['1234abcd-12ab-34cd-56ef-1234567890ab', 'InvalidParameterException'], // of another region
    ['arn:aws:kms:eu-central-1:123456789012:alias/sandbox', 'InvalidParameterException'],
    ['alias/sandbox-disabled', 'EncryptionFailure'],
    ['alias/sandbox-denied', 'AccessDeniedException'],
    ['arn:aws:kms:eu-west-1:999999999999:alias/sandbox', 'AccessDeniedException'],
  ])('%s cannot encrypt in this region: %s', async (KmsKeyId, code) => {
    await expect(cloudA.create({ Name: 'keyed', KmsKeyId })).rejects.toEqual(errorNamed(code));
  });

  test.each([
    'alias/aws/secretsmanager',
    'alias/sandbox',
    '0987dcba-09fe-87dc-65ba-ab0987654321',
    'arn:aws:kms:eu-west-1:123456789012:key/mrk-1234abcd12ab34cd56ef1234567890ab',
  ])('%s can', async (KmsKeyId) => {
    await cloudA.create({ Name: 'keyed', KmsKeyId });
    expect(await cloudA.describe('keyed')).toMatchObject({ KmsKeyId });
  });
});
