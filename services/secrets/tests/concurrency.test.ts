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

test('of writers that expect the same version exactly one wins, round after round', async () => {
  for (let round = 0; round < 5; round++) {
    const answers = await inParallel((index) => write('cas', { index, round }, round));
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(writers - 1);
    const read = await secrets.call('GET', '/kv/data/cas');
    expect(read.body.data.data).toEqual({ index: winners[0], round });
  }
});

test('writers that expect nothing get the versions 1 to n, each its own value', async () => {
  const answers = await inParallel((index) => write('free', { index }));
  const versions = answers.map(({ body }) => body.data.version);
  expect([...versions].sort((a, b) => a - b)).toEqual(Array.from({ length: writers }, (_, i) => i + 1));
  await inParallel(async (index) => {
    const read = await secrets.call('GET', `/kv/data/free?version=${versions[index]}`);
    expect(read.body.data.data).toEqual({ index });
  });
});

test('with one version kept, never more than one is readable', async () => {
  await secrets.call('POST', '/kv/metadata/single', { max_versions: 1 });
  await inParallel((index) => write('single', { index }));
  const { versions } = (await secrets.call('GET', '/kv/metadata/single')).body.data;
  expect(Object.keys(versions)).toEqual([String(writers)]);
  expect((await secrets.call('GET', `/kv/data/single?version=${writers - 1}`)).status).toBe(404);
});

test('no patch is lost', async () => {
  await write('patched', {});
  const answers = await inParallel((index) =>
    secrets.call('PATCH', '/kv/data/patched', { data: { [`k${index}`]: index } }),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(writers).fill(200));
  const read = await secrets.call('GET', '/kv/data/patched');
  expect(Object.keys(read.body.data.data)).toHaveLength(writers);
});

test('a watch that begins among changes misses none after it', async () => {
  for (let round = 0; round < 5; round++) {
    const name = `watched${round}`;
    await write(name, { a: 1 });
    const body = { namespace_id: 'root', mount: 'kv', secret_name: name };
    const [watched] = await Promise.all([
      secrets.ask('/internal/secrets/watch', body),
      secrets.call('DELETE', `/kv/data/${name}`),
    ]);
    const { readable, secret_id } = watched.body.data;
    const events = await secrets.db.query('select from secrets.outbox where secret_id = $1', [secret_id]);
    expect(readable ? events.length : 1).toBe(1);
  }
});

test('metadata that is deleted among writes leaves a secret whole or gone', async () => {
  const answers = await inParallel((index) =>
    index % 4 === 0 ? secrets.call('DELETE', '/kv/metadata/flicker') : write('flicker', { index }),
  );
  expect(answers.every(({ status }) => status === 200 || status === 204)).toBe(true);
  const metadata = await secrets.call('GET', '/kv/metadata/flicker');
  if (metadata.status === 404) return;
  const { current_version, versions } = metadata.body.data;
  expect(Object.keys(versions)).toEqual(Array.from({ length: current_version }, (_, i) => String(i + 1)));
});
