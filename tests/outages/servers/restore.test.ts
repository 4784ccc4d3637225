import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../harness/eventually.ts';
import { type Api, expectStatus } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { describeDistributed, type Suite } from '../describe-distributed.ts';
import { RetryingClient } from '../load/retrying-client.ts';
import { volumeSnapshot } from './volume-snapshot.ts';

const secrets = 30;
/** Number of the secrets that are written during the backup. The others are synced by then. */
const busy = 10;

const define = (suite: Suite) => {
  const folder = mkdtempSync(join(tmpdir(), 'backup-'));
  let api: Api;
  let at: SyncFixture;

  beforeAll(async () => {
    api = new RetryingClient(suite.system).request;
    at = await SyncFixture.create({ api, sandbox: suite.sandbox });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const name = (n: number) => `app/s${n}`;

  async function writeAll(round: number, count = secrets): Promise<void> {
    for (let n = 0; n < count; n += 1) await at.write(name(n), { value: `${n} of round ${round}` });
  }

  const services = () => Object.values(suite.system.processes).filter(({ name: one }) => one !== 'sandbox');

  /** Returns the data of each secret as JSON; undefined for a secret that the service does not have. */
  async function stored(): Promise<Record<string, string | undefined>> {
    const values: Record<string, string | undefined> = {};
    for (let n = 0; n < secrets; n += 1) {
      const { data } = (await api('GET', `${at.mount}/data/${name(n)}`)).body.data;
      values[name(n)] = JSON.stringify(data);
    }
    return values;
  }

  /**
   * Describes the secrets whose value in the external store is not the expected one, or whose association is not
   * synced.
   */
  async function differences(expected: Record<string, string | undefined>): Promise<string[]> {
    const [external, associations] = [await suite.sandbox.secrets(), await at.associations()];
    return Object.entries(expected).flatMap(([one, value]) => {
      const status = associations[`${at.accessor}/${one}`]?.sync_status;
      const found = external[at.externalName(one)]?.value;
      return status === 'SYNCED' && found === value
        ? []
        : [`${one}: ${found} (${status}), expected ${value}`];
    });
  }

  test('a backup taken under load is restored: the system converges, and what was pushed afterwards is corrected', async () => {
    await writeAll(1);
    for (let n = 0; n < secrets; n += 1) await at.set(name(n), {}, '?wait=0');
    const first = await stored();
    await eventually(
      () => differences(first),
      (left) => left.length === 0,
    );
    let isOver = false;
    const writing = (async () => {
      for (let round = 2; !isOver; round += 1) await writeAll(round, busy);
    })();
    const backup = await volumeSnapshot(suite.system.postgres.url, join(folder, 'data.tar'));
    isOver = true;
    await writing;
    await writeAll(1_000); // after the backup
    await at.remove(name(0), '?wait=0');
    const newest = Object.fromEntries(Object.entries(await stored()).slice(1));
    await eventually(
      () => differences(newest),
      (left) => left.length === 0,
    );

    const started = Date.now();
    await Promise.all(services().map((process) => process.stop()));
    await suite.system.postgres.restart('SIGINT', backup.restore);
    await suite.system.rabbit.restart('SIGKILL', (data) =>
      rmSync(join(data, 'data'), { recursive: true, force: true }),
    );
    await Promise.all(services().map((process) => process.start()));
    const restored = await stored();
    expect(Object.values(restored).some((value) => value?.includes('1000'))).toBe(false);
    const before = await differences(restored);
    // As docs/operations/running.md says: what is newer in the store is corrected when its association is set again.
    for (let n = 0; n < secrets; n += 1) expectStatus(await at.set(name(n), {}, '?wait=0'), 200);
    await eventually(
      () => differences(restored),
      (left) => left.length === 0,
    );
    suite.note(
      `restored, and ${before.length} of ${secrets} external secrets corrected, ${Date.now() - started} ms after the stop`,
    );
    // An entry that was pending in the backup has been pushed again by then.
    expect(before.length).toBeGreaterThan(secrets / 2);
    await writeAll(2_000);
    const final = await stored();
    await eventually(
      () => differences(final),
      (left) => left.length === 0,
    );
  });
};

await describeDistributed('backup and restore', define, { isLong: true });
