import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import CRC32C from 'crc-32/crc32c.js';
import { startSandbox } from '../../../src/sandbox.ts';
import { cloudCClient, errorWith, useCloudC } from './cloudc-harness.ts';

const cloudC = useCloudC();
const checksumOf = (text: string) => CRC32C.buf(Buffer.from(text)) >>> 0;
const version = (id: string, number: number) => ({ name: `${cloudC.nameOf(id)}/versions/${number}` });

describe('a version', () => {
  test('is numbered, and the newest one is `latest`', async () => {
    await cloudC.create('v');
    expect(await cloudC.add('v', 'one')).toMatchObject({
      name: expect.stringMatching(/versions\/1$/),
      state: 'ENABLED',
    });
    await cloudC.add('v', 'two ☃');
    const { name, payload } = await cloudC.access('v');
    expect(name).toMatch(/^projects\/\d{12}\/secrets\/v\/versions\/2$/);
    expect(payload?.data?.toString()).toBe('two ☃');
    expect((await cloudC.access('v', '1')).payload?.data?.toString()).toBe('one');
    expect(cloudC.held()).toMatchObject([{ value: 'two ☃', version_count: 2 }]);
  });

  test('has a payload of 1 to 65,536 bytes', async () => {
    await cloudC.create('v');
    await expect(cloudC.add('v', '')).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    await expect(cloudC.add('v', `${'é'.repeat(32_768)}x`)).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    await cloudC.add('v', 'é'.repeat(32_768));
  });

  test('is refused if its checksum does not match, and is returned with its checksum', async () => {
    await cloudC.create('v');
    const wrong = cloudC.add('v', 'one', { dataCrc32c: checksumOf('two') });
    await expect(wrong).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    expect(await cloudC.add('v', 'one', { dataCrc32c: checksumOf('one') })).toMatchObject({
      clientSpecifiedPayloadChecksum: true,
    });
    expect(Number((await cloudC.access('v')).payload?.dataCrc32c)).toBe(checksumOf('one'));
  });

  test.each([
    ['disabled', 'disableSecretVersion'],
    ['destroyed', 'destroySecretVersion'],
  ] as const)('that is %s cannot be read, not as the latest one either', async (_, change) => {
    await cloudC.create('v');
    await cloudC.add('v', 'one');
    await cloudC.add('v', 'two');
    await cloudC.client()[change](version('v', 2));
    await expect(cloudC.access('v')).rejects.toEqual(errorWith('FAILED_PRECONDITION'));
    expect((await cloudC.access('v', '1')).payload?.data?.toString()).toBe('one');
  });

  test('that is disabled can be enabled again, and one that is destroyed cannot', async () => {
    await cloudC.create('v');
    await cloudC.add('v', 'one');
    await cloudC.client().disableSecretVersion(version('v', 1));
    await cloudC.client().enableSecretVersion(version('v', 1));
    expect((await cloudC.access('v')).payload?.data?.toString()).toBe('one');
    const [destroyed] = await cloudC.client().destroySecretVersion(version('v', 1));
    expect(destroyed).toMatchObject({ state: 'DESTROYED', destroyTime: expect.anything() });
    for (const change of ['enableSecretVersion', 'destroySecretVersion'] as const)
      await expect(cloudC.client()[change](version('v', 1))).rejects.toEqual(
        errorWith('FAILED_PRECONDITION'),
      );
  });

  test('is destroyed only with its current etag, if one is sent', async () => {
    await cloudC.create('v');
    const { etag } = await cloudC.add('v', 'one');
    await cloudC.client().disableSecretVersion(version('v', 1));
    const destruction = cloudC.client().destroySecretVersion({ ...version('v', 1), etag: String(etag) });
    await expect(destruction).rejects.toEqual(errorWith('FAILED_PRECONDITION'));
  });

  test('versions are listed newest first, by state and by pages', async () => {
    await cloudC.create('v');
    for (const text of ['one', 'two', 'three']) await cloudC.add('v', text);
    await cloudC.client().disableSecretVersion(version('v', 2));
    const numbersOf = async (request: object) => {
      const [listed] = await cloudC.client().listSecretVersions({ parent: cloudC.nameOf('v'), ...request });
      return listed.map(({ name }) => Number(name?.split('/').at(-1)));
    };
    expect(await numbersOf({ pageSize: 2 })).toEqual([3, 2, 1]);
    expect(await numbersOf({ filter: 'state:ENABLED' })).toEqual([3, 1]);
  });

  test('is not found if the secret does not exist', async () => {
    await expect(cloudC.add('none', 'x')).rejects.toEqual(errorWith('NOT_FOUND'));
    await expect(cloudC.access('none')).rejects.toEqual(errorWith('NOT_FOUND'));
  });
});

describe('quotas', () => {
  const limited = useCloudC({ enforceQuotas: true });
  const exhausted = expect.objectContaining({ code: 8, reason: 'RATE_LIMIT_EXCEEDED' });

  test('a secret takes two writes per second', async () => {
    await limited.create('q');
    await limited.add('q', 'one');
    await limited.add('q', 'two');
    await expect(limited.add('q', 'three')).rejects.toEqual(exhausted);
    limited.advance(500);
    await limited.add('q', 'three');
  });

  test('a version is changed once per second', async () => {
    await limited.create('q');
    await limited.add('q', 'one');
    const name = { name: `${limited.nameOf('q')}/versions/1` };
    await limited.client().disableSecretVersion(name);
    await expect(limited.client().destroySecretVersion(name)).rejects.toEqual(exhausted);
    limited.advance(1_000);
    await limited.client().destroySecretVersion(name);
  });

  test('a project takes 600 writes per minute', async () => {
    // A few at a time: the client allows a minute for each call, and 601 at once may take longer on a busy machine.
    for (let batch = 0; batch < 30; batch += 1)
      await Promise.all(Array.from({ length: 20 }, (_, n) => limited.create(`q${batch}-${n}`)));
    await expect(limited.create('one-more')).rejects.toEqual(exhausted);
  });
});

test('secrets, versions and their states survive a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const options = { dataFile: join(folder, 'journal.jsonl') };
  const parent = 'projects/sandbox-project';
  const first = await startSandbox(options);
  const client = cloudCClient(first);
  for (const secretId of ['kept', 'gone'])
    await client.createSecret({
      parent,
      secretId,
      secret: { replication: { automatic: {} }, labels: { a: 'b' } },
    });
  for (const text of ['one', 'two'])
    await client.addSecretVersion({ parent: `${parent}/secrets/kept`, payload: { data: Buffer.from(text) } });
  await client.destroySecretVersion({ name: `${parent}/secrets/kept/versions/1` });
  await client.deleteSecret({ name: `${parent}/secrets/gone` });
  const before = first.cloudC.secrets();
  await first.stop();
  for (const _restart of [1, 2]) {
    const again = await startSandbox(options);
    expect(again.cloudC.secrets()).toEqual(before);
    const other = cloudCClient(again);
    const [versions] = await other.listSecretVersions({ parent: `${parent}/secrets/kept` });
    expect(versions.map(({ state }) => state)).toEqual(['ENABLED', 'DESTROYED']);
    await again.stop();
  }
  rmSync(folder, { recursive: true });
});
