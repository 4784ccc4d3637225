import { randomBytes } from 'node:crypto';
import { type Answer, client } from '../../scripts/demo/http.ts';
import { type Distributed, sandboxOf } from './distributed.ts';

export interface LoadOptions {
  secrets?: number;
  /** Writes of each secret. */
  rounds?: number;
  /** Secrets of these that are removed again in the last round. */
  removed?: number;
  /** Milliseconds between two writes of one writer; default 60. */
  gapMs?: number;
}

/** What one load has asked for, and what must therefore be outside. */
export interface Load {
  /** Runs it; `during` goes on at the same time. */
  run(during?: () => Promise<void>): Promise<void>;
  /** Answers that were no success, by status (0: no answer). */
  refusals: Map<number, number>;
  /** Bodies of answers that were errors and had not our form. */
  misshapen: Answer[];
  /** Resolves with the milliseconds it took until everything was as asked for; throws with what is not, after `maxMs`. */
  untilRight(timeoutMs?: number): Promise<number>;
  /** Versions outside, over all secrets, for each write. */
  versionsPerWrite(): Promise<number>;
  write(name: string, value: string): Promise<void>;
  set(name: string, query?: string): Promise<Answer>;
  statuses(): Promise<Record<string, string>>;
  external(name: string): string;
}

const writers = 6;
const retryTimeoutMs = 120_000;
const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A mount and a destination of a load's own, and writers that go on until each of their requests was acknowledged. */
export async function createLoad(system: Distributed, options: LoadOptions = {}): Promise<Load> {
  const { secrets = 60, rounds = 3, removed = 6, gapMs = 60 } = options;
  const api = client(system.url, system.rootToken);
  const sandbox = sandboxOf(system);
  const tag = randomBytes(4).toString('hex');
  const mount = `kv-${tag}`;
  const destination = `sys/sync/destinations/cloudA-sm/d-${tag}`;
  const refusals = new Map<number, number>();
  const misshapen: Answer[] = [];
  const expected = new Map<string, string | null>();
  let writes = 0;

  const insist = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const end = Date.now() + retryTimeoutMs;
    for (;;) {
      const answer = await api(method, path, body).catch(() => ({ status: 0, body: undefined }));
      if (answer.status >= 200 && answer.status < 300) return answer;
      refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1);
      if (answer.status !== 0 && !Array.isArray(answer.body?.errors)) misshapen.push(answer);
      if (Date.now() > end)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      await soon(100);
    }
  };

  await insist('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  const { accessKeyId, secretAccessKey } = await sandbox.credentials();
  const keys = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  await insist('POST', destination, { ...keys, region: 'eu-west-1' });
  const { accessor } = (await insist('GET', `sys/mounts/${mount}`)).body.data;
  const external = (name: string) => `secrets/${accessor}/${name}`;

  const write = async (name: string, value: string) => {
    await insist('POST', `${mount}/data/${name}`, { data: { value } });
    expected.set(name, JSON.stringify({ value }));
    writes += 1;
  };
  const set = (name: string, query = '?wait=0') =>
    insist('POST', `${destination}/associations/set${query}`, { mount, secret_name: name });
  const remove = async (name: string) => {
    await insist('POST', `${destination}/associations/remove?wait=0`, { mount, secret_name: name });
    expected.set(name, null);
  };
  const statuses = async (): Promise<Record<string, string>> => {
    const { associated_secrets: all } = (await insist('GET', `${destination}/associations`)).body.data;
    return Object.fromEntries(
      Object.values<{ secret_name: string; sync_status: string }>(all).map((one) => [
        one.secret_name,
        one.sync_status,
      ]),
    );
  };
  const wrong = async (): Promise<string[]> => {
    const [held, status] = [await sandbox.outside(), await statuses()];
    return [...expected].flatMap(([name, value]) => {
      const is = { value: held.get(external(name))?.value ?? null, status: status[name] ?? null };
      const isRight = is.value === value && is.status === (value === null ? null : 'SYNCED');
      return isRight ? [] : [`${name}: ${JSON.stringify(is)}, wanted ${value}`];
    });
  };
  const lifeOf = async (index: number) => {
    const name = `app/s${index}`;
    for (let round = 1; round <= rounds; round += 1) {
      await soon(gapMs);
      await write(name, `value ${index} of round ${round}`);
      if (round === 1) await set(name);
    }
    if (index < removed) await remove(name);
  };

  return {
    refusals,
    misshapen,
    write,
    set,
    statuses,
    external,
    run: async (during = async () => undefined) => {
      let next = 0;
      const writer = async () => {
        while (next < secrets) await lifeOf(next++);
      };
      await Promise.all([during(), ...Array.from({ length: writers }, writer)]);
    },
    untilRight: async (timeoutMs = 120_000) => {
      const started = Date.now();
      for (;;) {
        const left = await wrong().catch((error: unknown) => [String(error)]);
        if (left.length === 0) return Date.now() - started;
        if (Date.now() - started > timeoutMs)
          throw new Error(
            `${left.length} are not right after ${timeoutMs} ms:\n${left.slice(0, 5).join('\n')}`,
          );
        await soon(100);
      }
    },
    versionsPerWrite: async () => {
      const held = await sandbox.outside();
      const counts = [...expected.keys()].map((name) => held.get(external(name))?.version_count ?? 0);
      return counts.reduce((sum, count) => sum + count, 0) / writes;
    },
  };
}
