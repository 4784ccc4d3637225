import { beforeEach, expect, test } from '@jest/globals';
import { listDestinationsAtRest } from '../../src/queries/changes/source-marks.ts';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

// Without rounds of the reconciliation, each of which decides on what it has seen.
const sync = useSyncControl({ reconcileSeconds: 3_600 });
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

async function syncSecrets(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await at.write(`s${index}`, { k: 'v' });
    await at.set(`s${index}`);
  }
  await sync.work();
}

test('deletions in quick succession are counted together, before the first one is followed', async () => {
  await syncSecrets(60);
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => sync.secrets('DELETE', `/${at.mount}/metadata/s${index}`)),
  );
  await eventually(async () => (await sync.call('GET', at.path)).body.data.removals_held === 20);
  expect(await sync.db.query(`select from sync.entries where desired = 'absent'`)).toEqual([]);
});

test('nothing is decided for two seconds after a deletion', async () => {
  await syncSecrets(1);
  await sync.db.transaction(async (tx) => {
    const atRest = async (gone: string) => {
      await tx.query(`update sync.associations set source_gone_at = now() - $1::interval`, [gone]);
      return (await listDestinationsAtRest(tx)).length;
    };
    expect([await atRest('1.9 seconds'), await atRest('2.1 seconds')]).toEqual([0, 1]);
  });
});
