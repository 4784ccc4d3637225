import { randomUUID } from 'node:crypto';
import {
  CreateSecretCommand,
  type CreateSecretCommandInput,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  type ListSecretsCommandOutput,
  ListSecretVersionIdsCommand,
  PutSecretValueCommand,
  RemoveRegionsFromReplicationCommand,
  ReplicateSecretToRegionsCommand,
  RestoreSecretCommand,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { clientOf } from './clouda-client.ts';

const DAY_MS = 86_400_000;

let sandbox: Sandbox;
/** Time stands still unless a test moves it. */
const startMs = Date.now();
let aheadMs = 0;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  sandbox = await startSandbox({
    clock: () => startMs + aheadMs,
    cloudA: { forcedDeleteMs: 50, replicationMs: 1_000 },
  });
  client = clientOf(sandbox);
});
afterAll(async () => {
  client.destroy();
  await sandbox.stop();
});
beforeEach(() => {
  aheadMs = 0;
  sandbox.reset();
});

const create = (input: Partial<CreateSecretCommandInput> & { Name: string }) =>
  client.send(new CreateSecretCommand({ SecretString: 'one', ...input }));
const read = (SecretId: string, more = {}) => client.send(new GetSecretValueCommand({ SecretId, ...more }));
const put = (SecretId: string, SecretString: string, more = {}) =>
  client.send(new PutSecretValueCommand({ SecretId, SecretString, ...more }));
const describeIt = (SecretId: string) => client.send(new DescribeSecretCommand({ SecretId }));
const remove = (SecretId: string, more = {}) => client.send(new DeleteSecretCommand({ SecretId, ...more }));
const refused = (name: string) => expect.objectContaining({ name });

describe('what is refused', () => {
  test.each([
    ['a', 'b c'],
    ['too long', 'x'.repeat(513)],
    ['unknown letter', 'naïve'],
  ])('a name with a wrong alphabet or length: %s', async (_, Name) => {
    await expect(create({ Name })).rejects.toEqual(refused('ValidationException'));
  });

  test('a value that is empty or over 65,536 bytes; exactly that many are taken', async () => {
    await expect(create({ Name: 'v', SecretString: '' })).rejects.toEqual(refused('ValidationException'));
    await expect(create({ Name: 'v', SecretString: 'é'.repeat(32_769) })).rejects.toEqual(
      refused('ValidationException'),
    );
    await create({ Name: 'v', SecretString: 'é'.repeat(32_768) });
    expect((await read('v')).SecretString).toHaveLength(32_768);
  });

  test('a text and a binary together, and neither in a put', async () => {
    const both = { Name: 'b', SecretBinary: Buffer.from('x') };
    await expect(create(both)).rejects.toEqual(refused('InvalidParameterException'));
    await create({ Name: 'b' });
    const neither = client.send(new PutSecretValueCommand({ SecretId: 'b' }));
    await expect(neither).rejects.toEqual(refused('InvalidRequestException'));
  });

  test.each([
    [
      'fifty-one tags',
      Array.from({ length: 51 }, (_, n) => ({ Key: `k${n}`, Value: '' })),
      'InvalidParameterException',
    ],
    ['reserved prefix', [{ Key: 'aws:x', Value: '' }], 'InvalidParameterException'],
    ['long key', [{ Key: 'k'.repeat(129), Value: '' }], 'ValidationException'],
    ['long value', [{ Key: 'k', Value: 'v'.repeat(257) }], 'ValidationException'],
  ])('tags: %s', async (_, Tags, name) => {
    await expect(create({ Name: 't', Tags })).rejects.toEqual(refused(name));
    await create({ Name: 't' });
    const tag = client.send(new TagResourceCommand({ SecretId: 't', Tags }));
    await expect(tag).rejects.toEqual(refused(name));
  });

  test('a token shorter than 32 characters', async () => {
    const ClientRequestToken = 'x'.repeat(31);
    await expect(create({ Name: 'tk', ClientRequestToken })).rejects.toEqual(
      refused('InvalidParameterException'),
    );
  });

  test('a recovery window outside 7 to 30 days, or together with force', async () => {
    await create({ Name: 'w' });
    for (const more of [
      { RecoveryWindowInDays: 6 },
      { RecoveryWindowInDays: 31 },
      { RecoveryWindowInDays: 7, ForceDeleteWithoutRecovery: true },
    ]) {
      await expect(remove('w', more)).rejects.toEqual(refused('InvalidParameterException'));
    }
  });

  test('what is absent', async () => {
    await expect(describeIt('none')).rejects.toEqual(refused('ResourceNotFoundException'));
    await expect(put('none', 'x')).rejects.toEqual(refused('ResourceNotFoundException'));
    await expect(remove('none')).rejects.toEqual(refused('ResourceNotFoundException'));
    await expect(remove('none', { ForceDeleteWithoutRecovery: true })).resolves.toMatchObject({
      Name: 'none',
    });
  });
});

describe('create and read', () => {
  test('the second create of a name is refused', async () => {
    await create({ Name: 'twice' });
    await expect(create({ Name: 'twice', SecretString: 'two' })).rejects.toEqual(
      refused('ResourceExistsException'),
    );
  });

  test('the same token is the same create; with another value it is refused', async () => {
    const ClientRequestToken = randomUUID();
    const first = await create({ Name: 'again', ClientRequestToken });
    expect(first.VersionId).toBe(ClientRequestToken);
    expect(await create({ Name: 'again', ClientRequestToken })).toMatchObject({ ARN: first.ARN });
    const other = create({ Name: 'again', ClientRequestToken, SecretString: 'two' });
    await expect(other).rejects.toEqual(refused('ResourceExistsException'));
  });

  test('by name, by ARN, and by ARN without its six characters', async () => {
    const { ARN = '' } = await create({ Name: 'app/db+x', SecretString: 'pw' });
    expect(ARN).toMatch(/^arn:aws:secretsmanager:eu-west-1:\d{12}:secret:app\/db\+x-[A-Za-z0-9]{6}$/);
    for (const id of ['app/db+x', ARN, ARN.slice(0, -7)]) expect((await read(id)).SecretString).toBe('pw');
  });

  test('a name that ends like an ARN is advised against, and taken', async () => {
    const { ARN } = await create({ Name: 'app-AbC123', SecretString: 'pw' });
    for (const id of ['app-AbC123', ARN!]) expect((await read(id)).SecretString).toBe('pw');
  });

  test('a binary value comes back as it went', async () => {
    const SecretBinary = Uint8Array.from([0, 255, 7]);
    await client.send(new CreateSecretCommand({ Name: 'bin', SecretBinary }));
    expect((await read('bin')).SecretBinary).toEqual(SecretBinary);
  });

  test('a key is shown only when one was sent', async () => {
    await create({ Name: 'plain', Tags: [{ Key: 'owner', Value: 'me' }] });
    await create({ Name: 'keyed', KmsKeyId: 'alias/mine' });
    expect(await describeIt('plain')).toMatchObject({ Tags: [{ Key: 'owner', Value: 'me' }] });
    expect((await describeIt('plain')).KmsKeyId).toBeUndefined();
    expect((await describeIt('keyed')).KmsKeyId).toBe('alias/mine');
  });

  test('a secret without a value has none to read', async () => {
    await client.send(new CreateSecretCommand({ Name: 'blank' }));
    await expect(read('blank')).rejects.toEqual(refused('ResourceNotFoundException'));
  });
});

describe('versions', () => {
  test('a put moves the labels', async () => {
    const first = await create({ Name: 'moves' });
    const second = await put('moves', 'two');
    expect((await describeIt('moves')).VersionIdsToStages).toEqual({
      [first.VersionId ?? '']: ['AWSPREVIOUS'],
      [second.VersionId ?? '']: ['AWSCURRENT'],
    });
    expect((await read('moves', { VersionStage: 'AWSPREVIOUS' })).SecretString).toBe('one');
    expect((await read('moves', { VersionId: first.VersionId })).SecretString).toBe('one');
  });

  test('the same token and value put twice is one version; another value is refused', async () => {
    await create({ Name: 'idem' });
    const ClientRequestToken = randomUUID();
    await put('idem', 'two', { ClientRequestToken });
    await put('idem', 'two', { ClientRequestToken });
    expect(sandbox.cloudA.secrets()[0]?.version_count).toBe(2);
    const other = put('idem', 'three', { ClientRequestToken });
    await expect(other).rejects.toEqual(refused('ResourceExistsException'));
  });

  test('an update without a value makes no version, with one it does', async () => {
    await create({ Name: 'up' });
    await client.send(new UpdateSecretCommand({ SecretId: 'up', Description: 'd', KmsKeyId: 'k' }));
    expect(await describeIt('up')).toMatchObject({ Description: 'd', KmsKeyId: 'k' });
    expect(sandbox.cloudA.secrets()[0]?.version_count).toBe(1);
    await client.send(new UpdateSecretCommand({ SecretId: 'up', SecretString: 'two' }));
    expect((await read('up')).SecretString).toBe('two');
  });

  test('the hundred-and-first is refused until the others are a day old', async () => {
    await create({ Name: 'many' });
    for (let n = 1; n < 100; n += 1) await put('many', `value ${n}`);
    await expect(put('many', 'over')).rejects.toEqual(refused('LimitExceededException'));
    aheadMs = DAY_MS + 60_000;
    await put('many', 'fits now');
    const versions = await client.send(
      new ListSecretVersionIdsCommand({ SecretId: 'many', IncludeDeprecated: true }),
    );
    expect(versions.Versions).toHaveLength(100);
  });

  test('tags come and go without a version', async () => {
    await create({ Name: 'tags', Tags: [{ Key: 'theirs', Value: '1' }] });
    await client.send(new TagResourceCommand({ SecretId: 'tags', Tags: [{ Key: 'ours', Value: '2' }] }));
    expect(sandbox.cloudA.secrets()[0]?.tags).toEqual({ theirs: '1', ours: '2' });
    await client.send(new UntagResourceCommand({ SecretId: 'tags', TagKeys: ['ours', 'absent'] }));
    expect(sandbox.cloudA.secrets()[0]).toMatchObject({ tags: { theirs: '1' }, version_count: 1 });
  });
});

describe('deletion', () => {
  test('with a window: only description and restore work on it, and its name is taken', async () => {
    await create({ Name: 'going' });
    const { DeletionDate } = await remove('going', { RecoveryWindowInDays: 7 });
    expect((DeletionDate?.getTime() ?? 0) - Date.now()).toBeGreaterThan(6.9 * DAY_MS);
    const gone = refused('InvalidRequestException');
    await expect(create({ Name: 'going' })).rejects.toEqual(gone);
    await expect(create({ Name: 'going' })).rejects.toThrow(/scheduled for deletion/);
    await expect(put('going', 'x')).rejects.toEqual(gone);
    await expect(read('going')).rejects.toEqual(gone);
    await expect(client.send(new UpdateSecretCommand({ SecretId: 'going' }))).rejects.toEqual(gone);
    await expect(client.send(new TagResourceCommand({ SecretId: 'going', Tags: [] }))).rejects.toEqual(gone);
    await expect(remove('going')).rejects.toEqual(gone);
    expect((await describeIt('going')).DeletedDate).toBeInstanceOf(Date);
    await client.send(new RestoreSecretCommand({ SecretId: 'going' }));
    await put('going', 'back');
    expect((await read('going')).SecretString).toBe('back');
  });

  test('the default window is thirty days, and then it is gone', async () => {
    await create({ Name: 'month' });
    await remove('month');
    aheadMs = 29 * DAY_MS;
    expect((await describeIt('month')).DeletedDate).toBeDefined();
    aheadMs = 31 * DAY_MS;
    await expect(describeIt('month')).rejects.toEqual(refused('ResourceNotFoundException'));
    await create({ Name: 'month' });
  });

  test('without recovery: for a moment the name is still taken', async () => {
    await create({ Name: 'forced' });
    await remove('forced', { ForceDeleteWithoutRecovery: true });
    await expect(create({ Name: 'forced' })).rejects.toThrow(/scheduled for deletion/);
    const absent = refused('ResourceNotFoundException');
    await expect(describeIt('forced')).rejects.toEqual(absent);
    await expect(client.send(new RestoreSecretCommand({ SecretId: 'forced' }))).rejects.toEqual(absent);
    aheadMs = 60;
    await create({ Name: 'forced', SecretString: 'anew' });
    expect((await read('forced')).SecretString).toBe('anew');
  });

  test('a scheduled one can still be deleted for good', async () => {
    await create({ Name: 'both' });
    await remove('both');
    await remove('both', { ForceDeleteWithoutRecovery: true });
    aheadMs = 60;
    expect(sandbox.cloudA.secrets()).toEqual([]);
  });
});

describe('lists', () => {
  const list = (more = {}) => client.send(new ListSecretsCommand(more));
  const namesOf = (answer: ListSecretsCommandOutput) => answer.SecretList?.map(({ Name }) => Name);

  test('come in pages', async () => {
    for (let n = 0; n < 5; n += 1) await create({ Name: `p${n}` });
    const first = await list({ MaxResults: 3 });
    const second = await list({ MaxResults: 3, NextToken: first.NextToken });
    expect([namesOf(first), namesOf(second)]).toEqual([
      ['p0', 'p1', 'p2'],
      ['p3', 'p4'],
    ]);
    expect(second.NextToken).toBeUndefined();
    await expect(list({ NextToken: 'made up' })).rejects.toEqual(refused('InvalidParameterException'));
  });

  test('leave out what is scheduled for deletion unless asked, and filter', async () => {
    await create({ Name: 'a/1', Tags: [{ Key: 'k', Value: 'v' }] });
    await create({ Name: 'b/1' });
    await remove('b/1');
    expect(namesOf(await list())).toEqual(['a/1']);
    expect(namesOf(await list({ IncludePlannedDeletion: true }))).toEqual(['a/1', 'b/1']);
    expect(namesOf(await list({ Filters: [{ Key: 'tag-key', Values: ['k'] }] }))).toEqual(['a/1']);
    expect(namesOf(await list({ Filters: [{ Key: 'name', Values: ['b'] }] }))).toEqual([]);
  });

  test('are stale when told so', async () => {
    await create({ Name: 'old' });
    aheadMs = 10_000;
    await create({ Name: 'new' });
    await remove('old', { ForceDeleteWithoutRecovery: true });
    sandbox.cloudA.faults.add({ effect: 'stale-list', ms: 5000, operation: 'ListSecrets' });
    expect(namesOf(await list())).toEqual(['old']);
    aheadMs = 11_000;
    expect(namesOf(await list())).toEqual(['old']);
    aheadMs = 20_000;
    expect(namesOf(await list())).toEqual(['new']);
  });
});

describe('regions', () => {
  test('know nothing of each other', async () => {
    const elsewhere = clientOf(sandbox, { region: 'us-east-1' });
    await create({ Name: 'here' });
    const there = elsewhere.send(new DescribeSecretCommand({ SecretId: 'here' }));
    await expect(there).rejects.toEqual(refused('ResourceNotFoundException'));
    elsewhere.destroy();
  });

  test('a replica mirrors its primary, cannot be written, and holds up deletion', async () => {
    const elsewhere = clientOf(sandbox, { region: 'us-east-1' });
    await create({ Name: 'rep' });
    const AddReplicaRegions = [{ Region: 'us-east-1' }];
    await client.send(new ReplicateSecretToRegionsCommand({ SecretId: 'rep', AddReplicaRegions }));
    await put('rep', 'two');
    expect((await elsewhere.send(new GetSecretValueCommand({ SecretId: 'rep' }))).SecretString).toBe('two');
    const writing = elsewhere.send(new PutSecretValueCommand({ SecretId: 'rep', SecretString: 'x' }));
    await expect(writing).rejects.toEqual(refused('InvalidRequestException'));
    for (const more of [{}, { ForceDeleteWithoutRecovery: true }]) {
      await expect(remove('rep', more)).rejects.toThrow(/replica regions/);
    }
    const statusAfter = async (ms: number) => {
      aheadMs = ms;
      return (await describeIt('rep')).ReplicationStatus?.map(({ Status }) => Status);
    };
    expect([await statusAfter(-60_000), await statusAfter(1_000)]).toEqual([['InProgress'], ['InSync']]);
    expect((await describeIt('rep')).ReplicationStatus).toMatchObject([
      { Region: 'us-east-1', Status: 'InSync' },
    ]);
    await client.send(
      new RemoveRegionsFromReplicationCommand({ SecretId: 'rep', RemoveReplicaRegions: ['us-east-1'] }),
    );
    await remove('rep', { ForceDeleteWithoutRecovery: true });
    const gone = elsewhere.send(new DescribeSecretCommand({ SecretId: 'rep' }));
    await expect(gone).rejects.toEqual(refused('ResourceNotFoundException'));
    elsewhere.destroy();
  });

  test('a region with a secret of its own of that name fails, unless overwritten', async () => {
    const elsewhere = clientOf(sandbox, { region: 'us-east-1' });
    await elsewhere.send(new CreateSecretCommand({ Name: 'own', SecretString: 'theirs' }));
    await create({ Name: 'own' });
    const replicate = (ForceOverwriteReplicaSecret: boolean) =>
      client.send(
        new ReplicateSecretToRegionsCommand({
          SecretId: 'own',
          AddReplicaRegions: [{ Region: 'us-east-1' }],
          ForceOverwriteReplicaSecret,
        }),
      );
    for (const [overwrite, outcome] of [
      [false, 'Failed'],
      [true, 'InSync'],
    ] as const) {
      expect((await replicate(overwrite)).ReplicationStatus).toMatchObject([{ Status: 'InProgress' }]);
      aheadMs += 1_000;
      expect((await describeIt('own')).ReplicationStatus).toMatchObject([{ Status: outcome }]);
    }
    elsewhere.destroy();
  });
});
