import { setTimeout as sleep } from 'node:timers/promises';
import type { Distributed } from '../../harness/distributed.ts';
import { eventually } from '../../harness/eventually.ts';
import type { Api } from '../../harness/http.ts';
import { sandboxControl } from '../../harness/sandbox-control.ts';
import { associatedSecrets, SyncFixture } from '../../harness/sync-fixture.ts';
import { RetryingClient } from './retrying-client.ts';

interface LoadOptions {
  /** At least this many; default 30. The load continues for as long as the disturbance takes. */
  secrets?: number;
  /** Writes per secret; default 3. */
  rounds?: number;
  /** How many of the secrets are removed from the destination after their last write; default 6. */
  removed?: number;
  /** Pause of each writer before a write; default 60. */
  pauseMs?: number;
  /** How requests are sent; by default, to the first gateway. */
  api?: Api;
}

const writers = 6;
const syncTimeoutMs = 120_000;

/** Writers that repeat each request until it is acknowledged, on their own mount and destination. */
export class Load {
  readonly #client: RetryingClient;
  readonly #sandbox: ReturnType<typeof sandboxControl>;
  readonly #at: SyncFixture;
  readonly #options: Required<Omit<LoadOptions, 'api'>>;
  /** Each acknowledged write. */
  readonly #versions: { name: string; version: number; value: string }[] = [];
  /** The acknowledged value of each secret; null if it was removed. */
  readonly #acknowledged = new Map<string, string | null>();

  static async create(
    system: Pick<Distributed, 'url' | 'rootToken' | 'sandboxUrl'>,
    { api, ...options }: LoadOptions = {},
  ): Promise<Load> {
    const client = new RetryingClient(api ?? system);
    const sandbox = sandboxControl(system.sandboxUrl);
    const at = await SyncFixture.create({ api: client.request, sandbox });
    return new Load(client, sandbox, at, { secrets: 30, rounds: 3, removed: 6, pauseMs: 60, ...options });
  }

  private constructor(
    client: RetryingClient,
    sandbox: ReturnType<typeof sandboxControl>,
    at: SyncFixture,
    options: Required<Omit<LoadOptions, 'api'>>,
  ) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#at = at;
    this.#options = options;
  }

  /** Number of requests that were refused or failed, by status; 0 is a failed connection. */
  get refusals(): Record<number, number> {
    return this.#client.refusals;
  }

  /** Refusals whose body is not that of our errors. */
  get malformed(): unknown[] {
    return this.#client.malformed;
  }

  /** The name pattern of its secrets in the external store. */
  get namePattern(): string {
    return this.#at.externalName('*');
  }

  /** Runs all writers, and `during` at the same time. If it takes longer than they do, they continue with more secrets. */
  async run(during: () => Promise<void> = async () => undefined): Promise<void> {
    let next = 0;
    let isOver = false;
    const writer = async () => {
      while (next < this.#options.secrets || !isOver) await this.#runSecret(next++);
    };
    const disturbance = during().finally(() => {
      isOver = true;
    });
    await Promise.all([disturbance, ...Array.from({ length: writers }, writer)]);
  }

  async #runSecret(index: number): Promise<void> {
    const name = `app/s${index}`;
    for (let round = 1; round <= this.#options.rounds; round += 1) {
      await sleep(this.#options.pauseMs);
      await this.#write(name, `value ${index} of round ${round}`);
      if (round === 1) await this.#at.set(name, {}, '?wait=0');
    }
    if (index >= this.#options.removed) return;
    await this.#at.remove(name, '?wait=0');
    this.#acknowledged.set(name, null);
  }

  async #write(name: string, value: string): Promise<void> {
    const { version } = (await this.#at.write(name, { value })).body.data;
    this.#versions.push({ name, version, value });
    this.#acknowledged.set(name, JSON.stringify({ value }));
  }

  /** Resolves when this many more writes are acknowledged: the load is in progress. */
  async written(more: number): Promise<void> {
    const goal = this.#versions.length + more;
    await eventually(
      async () => this.#versions.length,
      (writes) => writes >= goal,
    );
  }

  /** The status of each secret that has an association. */
  async statuses(): Promise<Record<string, string>> {
    const all = associatedSecrets(await this.#client.request('GET', `${this.#at.path}/associations`));
    return Object.fromEntries(
      Object.values(all).map(({ external_name, sync_status }) => [external_name, sync_status]),
    );
  }

  /**
   * Resolves with the milliseconds until the store holds what was acknowledged. Throws with the differences after two
   * minutes.
   */
  async untilSynced(): Promise<number> {
    const started = Date.now();
    const look = () => this.#differences().catch((error: unknown) => [String(error)]);
    await eventually(look, (differences) => differences.length === 0, syncTimeoutMs);
    return Date.now() - started;
  }

  async #differences(): Promise<string[]> {
    const [secrets, statuses] = [await this.#sandbox.secrets(), await this.statuses()];
    return [...this.#acknowledged].flatMap(([name, expected]) => {
      const externalName = this.#at.externalName(name);
      const value = secrets[externalName]?.value ?? null;
      const status = statuses[externalName] ?? null;
      const isSynced = value === expected && status === (expected === null ? null : 'SYNCED');
      return isSynced ? [] : [`${name}: ${value} (${status}), expected ${expected}`];
    });
  }

  /** The acknowledged writes that the service does not return. */
  async lost(): Promise<string[]> {
    const lost: string[] = [];
    for (const { name, version, value } of this.#versions) {
      const answer = await this.#client.request('GET', `${this.#at.mount}/data/${name}?version=${version}`);
      if (answer.body.data.data?.value !== value) lost.push(`${name}, version ${version}: ${value}`);
    }
    return lost;
  }

  /** Versions in the external store per acknowledged write, over all secrets. */
  async versionsPerWrite(): Promise<number> {
    const secrets = await this.#sandbox.secrets();
    const names = [...this.#acknowledged.keys()].map((name) => this.#at.externalName(name));
    const counts = names.map((name) => secrets[name]?.version_count ?? 0);
    return counts.reduce((sum, count) => sum + count, 0) / this.#versions.length;
  }
}
