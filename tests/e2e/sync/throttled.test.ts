import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type SandboxType,
  sandboxTypes,
  templateFor,
  withoutBudgets,
} from '../../harness/destination-types.ts';
import { eventually } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { isLongRun, runSize } from '../../harness/run-size.ts';

// The full size, which takes about an hour: THROTTLED_ENTRIES=10000 npm test -- throttled
const entries = runSize('THROTTLED_ENTRIES', 12, 500);
const keysPerSecret = 500;
const writes = 8;

let system: Installation;

beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
  const mount = { type: 'kv', options: { version: '2' } };
  expectStatus(await system.api('POST', 'sys/mounts/kv', mount), 204);
});
afterAll(() => system?.stop());

/** Creates a destination of the type, whose external names begin with `start`. */
async function create({ type, fields }: SandboxType, start: string, others: object = {}): Promise<string> {
  const path = `sys/sync/destinations/${type}/${start}`;
  const body = {
    ...fields(await system.sandbox.store(type)),
    ...others,
    granularity: 'secret-key',
    secret_name_template: templateFor(type, `${start}x{{ .SecretBaseName }}x{{ .SecretKey }}`),
  };
  expectStatus(await system.api('POST', path, body), 200);
  return path;
}

const write = async (secret: string, data: object) =>
  expectStatus(await system.api('POST', `kv/data/${secret}`, { data }), 200);
const set = async (path: string, secret: string) =>
  expectStatus(
    await system.api('POST', `${path}/associations/set?wait=0`, { mount: 'kv', secret_name: secret }),
    200,
  );

/** Milliseconds from the responses to writes until their values are in the store. */
async function delays(type: string, name: string, secret: string): Promise<number[]> {
  const measured: number[] = [];
  for (let at = 0; at < writes; at += 1) {
    const value = `value ${at} ${Math.random()}`;
    await write(secret, { key: value });
    const since = performance.now();
    await eventually(
      async () => (await system.sandbox.find(type, name))?.value,
      (held) => held === value,
      120_000,
    );
    measured.push(performance.now() - since);
    await sleep(50);
  }
  return measured.sort((a, b) => a - b);
}

/** A destination with one secret, and how long writes to it took before another destination of its type was busy. */
interface Quiet {
  account: 'the same account' | 'another account';
  externalName: string;
  secret: string;
  alone: number[];
}

async function createQuiet(one: SandboxType, account: Quiet['account'], start: string): Promise<Quiet> {
  const path = await create(one, start, account === 'another account' ? one.otherAccount : {});
  const secret = `q${start}`;
  await write(secret, { key: 'first' });
  await set(path, secret);
  const externalName = `${start}x${secret}xkey`;
  return { account, externalName, secret, alone: await delays(one.type, externalName, secret) };
}

/** One that holds many entries and has several accounts, and one that does not; every type in a long run. */
const types = sandboxTypes.filter(({ type }) => isLongRun || ['cloudA-sm', 'codehost'].includes(type));

test.each(types)(
  'every entry of a $type destination that throttles every third call is synced, and others are served',
  async (one) => {
    const { type, maxEntries } = one;
    const count = Math.min(entries, maxEntries ?? entries);
    const tag = type.replace(/\W/g, '').toLowerCase();
    const busy = await create(one, `busy${tag}`);
    const quiet = [await createQuiet(one, 'the same account', `quiet${tag}`)];
    if (one.otherAccount !== undefined) quiet.push(await createQuiet(one, 'another account', `other${tag}`));
    // Stores that hold few entries name a time; without one, a minute is waited.
    const wait = maxEntries === undefined ? {} : { retryAfterSeconds: 1 };
    await system.sandbox.fault({ store: type, effect: 'throttle', every: 3, name: `busy${tag}*`, ...wait });
    const started = performance.now();
    for (let first = 0; first < count; first += keysPerSecret) {
      const keys = Array.from(
        { length: Math.min(keysPerSecret, count - first) },
        (_, at) => `k${first + at}`,
      );
      await write(`b${tag}${first}`, Object.fromEntries(keys.map((key) => [key, `value of ${key}`])));
      await set(busy, `b${tag}${first}`);
    }
    const served: string[] = [];
    for (const { account, externalName, secret, alone } of quiet) {
      const next = describe(await delays(type, externalName, secret));
      served.push(`of ${account} ${next} ms, alone ${describe(alone)} ms`);
    }
    const entriesByStatus = () => statusOf(type, `busy${tag}`);
    await eventually(entriesByStatus, ({ SYNCED }) => SYNCED === count, 60_000 + count * 1_000);
    const seconds = (performance.now() - started) / 1_000;
    console.log(
      `${type}: ${count} entries in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} per second; ` +
        `a write of another destination arrived within (median, max): ${served.join('; ')}`,
    );
    expect(await system.sandbox.count(type, `busy${tag}*`)).toBe(count);
  },
  7_200_000,
);

/** Returns the number of a destination's entries in each status, after half a second. */
async function statusOf(type: string, name: string): Promise<Record<string, number>> {
  await sleep(500);
  const { destinations } = expectStatus(await system.api('GET', 'sys/sync/status'), 200).body.data;
  return destinations[`${type}/${name}`].entries;
}

const describe = (sorted: number[]): string =>
  `${sorted[Math.floor(sorted.length / 2)]!.toFixed(0)} and ${sorted.at(-1)!.toFixed(0)}`;
