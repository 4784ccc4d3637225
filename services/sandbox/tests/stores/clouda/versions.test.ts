import { randomUUID } from 'node:crypto';
import {
  CreateSecretCommand,
  ListSecretVersionIdsCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import { errorNamed, useCloudA } from './clouda-harness.ts';

const DAY_MS = 86_400_000;
const cloudA = useCloudA();

describe('creation', () => {
  test('a name can be created only once', async () => {
    await cloudA.create({ Name: 'twice' });
    const second = cloudA.create({ Name: 'twice', SecretString: 'two' });
    await expect(second).rejects.toEqual(errorNamed('ResourceExistsException'));
  });

  test('repeating a creation with the same token succeeds only with the same value', async () => {
    const ClientRequestToken = randomUUID();
    const first = await cloudA.create({ Name: 'again', ClientRequestToken });
    expect(first.VersionId).toBe(ClientRequestToken);
    expect(await cloudA.create({ Name: 'again', ClientRequestToken })).toMatchObject({ ARN: first.ARN });
    const other = cloudA.create({ Name: 'again', ClientRequestToken, SecretString: 'two' });
    await expect(other).rejects.toEqual(errorNamed('ResourceExistsException'));
  });

  test('a KMS key is reported only if the client specified one', async () => {
    await cloudA.create({ Name: 'plain', Tags: [{ Key: 'owner', Value: 'me' }] });
    await cloudA.create({ Name: 'keyed', KmsKeyId: 'alias/sandbox' });
    expect(await cloudA.describe('plain')).toMatchObject({ Tags: [{ Key: 'owner', Value: 'me' }] });
    expect((await cloudA.describe('plain')).KmsKeyId).toBeUndefined();
    expect((await cloudA.describe('keyed')).KmsKeyId).toBe('alias/sandbox');
  });
});

describe('reading', () => {
  test('a secret is found by name, by ARN, and by ARN without its random suffix', async () => {
    const { ARN = '' } = await cloudA.create({ Name: 'app/db+x', SecretString: 'pw' });
    expect(ARN).toMatch(/^arn:aws:secretsmanager:eu-west-1:\d{12}:secret:app\/db\+x-[A-Za-z0-9]{6}$/);
    for (const id of ['app/db+x', ARN, ARN.slice(0, -7)])
      expect((await cloudA.read(id)).SecretString).toBe('pw');
  });

  test('a name that ends like an ARN suffix is accepted and found', async () => {
    const { ARN } = await cloudA.create({ Name: 'app-AbC123', SecretString: 'pw' });
    for (const id of ['app-AbC123', ARN!]) expect((await cloudA.read(id)).SecretString).toBe('pw');
  });

  test('a binary value is returned unchanged', async () => {
    const SecretBinary = Uint8Array.from([0, 255, 7]);
    await cloudA.client().send(new CreateSecretCommand({ Name: 'bin', SecretBinary }));
    expect((await cloudA.read('bin')).SecretBinary).toEqual(SecretBinary);
  });

  test('reading a secret without a value is an error', async () => {
    await cloudA.client().send(new CreateSecretCommand({ Name: 'blank' }));
    await expect(cloudA.read('blank')).rejects.toEqual(errorNamed('ResourceNotFoundException'));
  });
});

describe('versions', () => {
  test('a put moves the labels to the new version and its predecessor', async () => {
    const first = await cloudA.create({ Name: 'moves' });
    const second = await cloudA.put('moves', 'two');
    expect((await cloudA.describe('moves')).VersionIdsToStages).toEqual({
      [first.VersionId ?? '']: ['AWSPREVIOUS'],
      [second.VersionId ?? '']: ['AWSCURRENT'],
    });
    expect((await cloudA.read('moves', { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one');
    expect((await cloudA.read('moves', { VersionId: first.VersionId })).SecretString).toBe('one');
  });

  test('a put with the same token and value adds no version; another value is rejected', async () => {
    await cloudA.create({ Name: 'idem' });
    const ClientRequestToken = randomUUID();
    await cloudA.put('idem', 'two', { ClientRequestToken });
    await cloudA.put('idem', 'two', { ClientRequestToken });
    expect(cloudA.store().secrets()[0]?.version_count).toBe(2);
    const other = cloudA.put('idem', 'three', { ClientRequestToken });
    await expect(other).rejects.toEqual(errorNamed('ResourceExistsException'));
  });

  test('an update adds a version only if it has a value', async () => {
    await cloudA.create({ Name: 'up' });
    const update = (input: object) =>
      cloudA.client().send(new UpdateSecretCommand({ SecretId: 'up', ...input }));
    await update({ Description: 'd', KmsKeyId: 'alias/sandbox' });
    expect(await cloudA.describe('up')).toMatchObject({ Description: 'd', KmsKeyId: 'alias/sandbox' });
    expect(cloudA.store().secrets()[0]?.version_count).toBe(1);
    await update({ SecretString: 'two' });
    expect((await cloudA.read('up')).SecretString).toBe('two');
    expect(cloudA.store().secrets()[0]?.version_count).toBe(2);
  });

  test('the hundred-and-first version is rejected until older ones can be pruned after a day', async () => {
    await cloudA.create({ Name: 'many' });
    for (let n = 1; n < 100; n += 1) await cloudA.put('many', `value ${n}`);
    await expect(cloudA.put('many', 'over')).rejects.toEqual(errorNamed('LimitExceededException'));
    cloudA.advance(DAY_MS + 60_000);
    await cloudA.put('many', 'fits now');
    const command = new ListSecretVersionIdsCommand({ SecretId: 'many', IncludeDeprecated: true });
    expect((await cloudA.client().send(command)).Versions).toHaveLength(100);
  });

  test('tags are added and removed without a new version', async () => {
    await cloudA.create({ Name: 'tags', Tags: [{ Key: 'first', Value: '1' }] });
    const Tags = [{ Key: 'second', Value: '2' }];
    await cloudA.client().send(new TagResourceCommand({ SecretId: 'tags', Tags }));
    expect(cloudA.store().secrets()[0]?.tags).toEqual({ first: '1', second: '2' });
    const TagKeys = ['second', 'absent'];
    await cloudA.client().send(new UntagResourceCommand({ SecretId: 'tags', TagKeys }));
    expect(cloudA.store().secrets()[0]).toMatchObject({ tags: { first: '1' }, version_count: 1 });
  });
});
