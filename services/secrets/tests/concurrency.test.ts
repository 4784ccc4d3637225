import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.call('POST', '/sys/mounts/kv', { type: 'kv', config: { max_versions: 100 } });
});
afterAll(() => secrets.stop());

const writers = 32;
const inParallel = <T>(work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: writers }, (_, index) => work(index)));
const write = (name: string, value: object, cas?: number) =>
  secrets.call('POST', `/kv/data/${name}`, { data: value, ...(cas !== undefined && { options: { cas } }) });

test('exactly one of the writers that expect the same version succeeds', async () => {
  for (let round = 0; round < 5; round++) {
    const answers = await inParallel((index) => write('cas', { index, round }, round));
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(writers - 1);
    const read = await secrets.call('GET', '/kv/data/cas');
    expect(read.body.data.data).toEqual({ index: winners[0], round });
  }
});

test('concurrent writers of a new secret get the versions 1 to n, each with its own value', async () => {
  const answers = await inParallel((index) => write('free', { index }));
  const versions = answers.map(({ body }) => body.data.version);
  expect([...versions].sort((a, b) => a - b)).toEqual(Array.from({ length: writers }, (_, i) => i + 1));
  await inParallel(async (index) => {
    const read = await secrets.call('GET', `/kv/data/free?version=${versions[index]}`);
    expect(read.body.data.data).toEqual({ index });
  });
});

test('concurrent writers of new metadata all succeed', async () => {
  const answers = await inParallel((index) =>
    secrets.call('POST', '/kv/metadata/meta', { max_versions: index + 1 }),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(writers).fill(204));
});

test('with one version kept, only the last write is readable', async () => {
  await secrets.call('POST', '/kv/metadata/single', { max_versions: 1 });
  await inParallel((index) => write('single', { index }));
  const { versions } = (await secrets.call('GET', '/kv/metadata/single')).body.data;
  expect(Object.keys(versions)).toEqual([String(writers)]);
  expect((await secrets.call('GET', `/kv/data/single?version=${writers - 1}`)).status).toBe(404);
});

test('no concurrent patch of a value is lost', async () => {
  await write('patched', {});
  const answers = await inParallel((index) =>
    secrets.call('PATCH', '/kv/data/patched', { data: { [`k${index}`]: index } }),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(writers).fill(200));
  const read = await secrets.call('GET', '/kv/data/patched');
  expect(Object.keys(read.body.data.data)).toHaveLength(writers);
});

test('no concurrent patch of metadata is lost', async () => {
  await write('patched-metadata', {});
  const answers = await inParallel((index) =>
    secrets.call('PATCH', '/kv/metadata/patched-metadata', { custom_metadata: { [`k${index}`]: 'v' } }),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(writers).fill(204));
  const read = await secrets.call('GET', '/kv/metadata/patched-metadata');
  expect(Object.keys(read.body.data.custom_metadata)).toHaveLength(writers);
});

test('a watch either returns the state after a concurrent change or gets its event', async () => {
  for (let round = 0; round < 5; round++) {
    const name = `watched${round}`;
    await write(name, { a: 1 });
    const body = { namespace_id: 'root', mount: 'kv', secret_name: name };
    const [watched] = await Promise.all([
      secrets.callInternal('/internal/secrets/watch', body),
      secrets.call('DELETE', `/kv/data/${name}`),
    ]);
    const { readable, secret_id } = watched.body.data;
    const events = await secrets.db.query('select from secrets.outbox where secret_id = $1', [secret_id]);
    expect(events).toHaveLength(readable ? 1 : 0);
  }
});

test('concurrent deletions leave a secret either whole or deleted', async () => {
  const answers = await inParallel((index) =>
    index % 4 === 0 ? secrets.call('DELETE', '/kv/metadata/flicker') : write('flicker', { index }),
  );
  expect(answers.every(({ status }) => status === 200 || status === 204)).toBe(true);
  const next = (await write('flicker', {})).body.data.version; // 1 if the last deletion came last
  const { current_version, versions } = (await secrets.call('GET', '/kv/metadata/flicker')).body.data;
  expect(current_version).toBe(next);
  expect(Object.keys(versions)).toEqual(Array.from({ length: next }, (_, i) => String(i + 1)));
});
