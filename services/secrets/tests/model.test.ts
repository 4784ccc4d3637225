import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.call('POST', '/sys/mounts/kv', { type: 'kv' });
});
afterAll(() => secrets.stop());

type State = 'readable' | 'deleted' | 'destroyed';
type Step =
  | { do: 'write'; value: number; cas: number | null }
  | { do: 'patch'; value: number }
  | { do: 'delete-newest' }
  | { do: 'delete' | 'undelete' | 'destroy'; versions: number[] }
  | { do: 'set-max-versions'; maxVersions: number }
  | { do: 'delete-metadata' };

/** The expected behaviour of a secret. */
class Model {
  current = 0;
  maxVersions = 0;
  versions = new Map<number, { value: Record<string, number>; state: State }>();

  apply(step: Step): number {
    switch (step.do) {
      case 'write':
        return step.cas !== null && step.cas !== this.current ? 400 : this.#add({ v: step.value });
      case 'patch': {
        const newest = this.versions.get(this.current);
        if (newest?.state !== 'readable') return 404;
        return this.#add({ ...newest.value, [`p${step.value % 3}`]: step.value });
      }
      case 'delete-newest':
        return this.#move([this.current], 'readable', 'deleted');
      case 'delete':
        return this.#move(step.versions, 'readable', 'deleted');
      case 'undelete':
        return this.#move(step.versions, 'deleted', 'readable');
      case 'destroy':
        this.#move(step.versions, 'readable', 'destroyed');
        return this.#move(step.versions, 'deleted', 'destroyed');
      case 'set-max-versions':
        this.maxVersions = step.maxVersions;
        return 204;
      case 'delete-metadata':
        Object.assign(this, new Model());
        return 204;
    }
  }

  #add(value: Record<string, number>): number {
    this.current += 1;
    this.versions.set(this.current, { value, state: 'readable' });
    for (const version of this.versions.keys())
      if (version <= this.current - (this.maxVersions || 10)) this.versions.delete(version);
    return 200;
  }

  #move(versions: number[], from: State, to: State): number {
    for (const version of versions) {
      const found = this.versions.get(version);
      if (found?.state === from) found.state = to;
    }
    return 204;
  }
}

async function perform(path: string, step: Step): Promise<number> {
  const call = async (method: string, kind: string, body?: unknown) =>
    (await secrets.call(method, `/kv/${kind}/${path}`, body)).status;
  switch (step.do) {
    case 'write':
      return call('POST', 'data', { data: { v: step.value }, options: { cas: step.cas } });
    case 'patch':
      return call('PATCH', 'data', { data: { [`p${step.value % 3}`]: step.value } });
    case 'delete-newest':
      return call('DELETE', 'data');
    case 'set-max-versions':
      return call('POST', 'metadata', { max_versions: step.maxVersions });
    case 'delete-metadata':
      return call('DELETE', 'metadata');
    default:
      return call('POST', step.do, { versions: step.versions });
  }
}

async function expectToMatch(path: string, model: Model): Promise<void> {
  for (let version = 1; version <= model.current; version++) {
    const expected = model.versions.get(version);
    const read = await secrets.call('GET', `/kv/data/${path}?version=${version}`);
    expect(read.status).toBe(expected?.state === 'readable' ? 200 : 404);
    if (expected === undefined) expect(read.body.errors).toEqual([]);
    else {
      expect(read.body.data.data).toEqual(expected.state === 'readable' ? expected.value : null);
      expect(read.body.data.metadata.destroyed).toBe(expected.state === 'destroyed');
    }
  }
  const metadata = await secrets.call('GET', `/kv/metadata/${path}`);
  if (metadata.status === 404) return expect(model.versions.size).toBe(0);
  expect(metadata.body.data.current_version).toBe(model.current);
  expect(Object.keys(metadata.body.data.versions).map(Number)).toEqual([...model.versions.keys()]);
}

const value = fc.integer({ min: 0, max: 99 });
const versions = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), value, cas: fc.constant(null) }) },
  fc.record({ do: fc.constant('write' as const), value, cas: fc.integer({ min: 0, max: 4 }) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('patch' as const), value }) },
  fc.record({ do: fc.constant('delete-newest' as const) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('delete', 'undelete', 'destroy'), versions }) },
  fc.record({ do: fc.constant('set-max-versions' as const), maxVersions: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ do: fc.constant('delete-metadata' as const) }),
) as fc.Arbitrary<Step>;

let runs = 0;

test('a secret behaves like its model under random operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const path = `model/${runs++}`;
      const model = new Model();
      for (const one of steps) expect(await perform(path, one)).toBe(model.apply(one));
      await expectToMatch(path, model);
    }),
    { numRuns: 40 },
  );
});

const name = fc.stringMatching(/^[ab!/0]{1,5}$/).filter((text) => !/^\/|\/$|\/\//.test(text));

test('a list returns one level of random names, in pages of any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      async (names, limit) => {
        const folder = `list/${runs++}`;
        for (const each of names) await secrets.call('POST', `/kv/metadata/${folder}/${each}`, {});
        const keys = names.map((each) => each.replace(/\/.*/, '/'));
        const expected = [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
        expect(await allPages(folder, limit)).toEqual(expected);
      },
    ),
    { numRuns: 25 },
  );
});

async function allPages(folder: string, limit: number): Promise<string[]> {
  const keys: string[] = [];
  for (;;) {
    const after = encodeURIComponent(keys.at(-1) ?? '');
    const page = await secrets.call('LIST', `/kv/metadata/${folder}?limit=${limit}&after=${after}`);
    if (page.status === 404) return keys;
    keys.push(...page.body.data.keys);
  }
}
