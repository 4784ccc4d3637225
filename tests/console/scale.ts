// Opens the pages of the console with 100,000 associations, of which 1,000 have failed, and prints how long each takes.
// Then lets the failed ones be retried while the overview is open, and fails if it does not show what the database has.
//
//   node scripts/run.mjs tests/console/scale.ts
import type { Page } from 'playwright-core';
import { eventually } from '../harness/eventually.ts';
import { expectStatus } from '../harness/http.ts';
import { openDatabase } from '../harness/standalone.ts';
import { SyncFixture } from '../harness/sync-fixture.ts';
import { startConsole } from './console-for-test.ts';

const [associations, failed] = [100_000, 1_000];
const repetitions = 5;

/** Copies the association and the entry of a destination. The copies are of the same secret. */
const copy = `
  with original as (
    select a.* from sync.associations a join sync.destinations d on d.id = a.destination_id where d.name = $1
  ), copies as (
    insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
    select destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name || '/' || lpad(n::text, 6, '0'), planned_revision
      from original, generate_series(1, $2::int) as n
    returning id, destination_id, secret_name
  )
  insert into sync.entries (association_id, destination_id, destination_type, sub_key, external_name, collision_key, status, due_at,
      applied_generation, generation, synced_at, next_attempt_at, attempts, fault, last_error)
  select id, destination_id, 'cloudA-sm', '', secret_name, secret_name, case when has_failed then 'CLIENT_SIDE_ERROR' else 'SYNCED' end,
      case when has_failed then now() + interval '1 hour' end, case when has_failed then 0 else 1 end, 1, case when has_failed then null else now() end,
      case when has_failed then now() + interval '1 hour' end, case when has_failed then 3 else 0 end,
      case when has_failed then 'forbidden' end, case when has_failed then 'no permission' end
    from copies, lateral (select right(secret_name, 6)::int <= $3::int as has_failed) as f`;

const uncounted = `select from sync.events e, sync.event_progress p where (e.xid, e.id) > (p.counted_xid, p.counted_id) limit 1`;

const console_ = await startConsole();
const db = openDatabase(console_);
try {
  const fixture = await SyncFixture.create(console_);
  await fixture.sync('seed', { key: 'value' });
  await db.transaction((tx) => tx.query(copy, [fixture.destination, associations, failed]), {
    isUnlimited: true,
  });
  await db.query('vacuum (analyze)');
  await eventually(
    () => db.query(uncounted),
    (rows) => rows.length === 0,
  ); // of the copies, which nobody makes in a moment
  console.log(
    `${associations} associations, ${failed} of them failed; the first visit of each page, and the median of ${repetitions - 1} more`,
  );
  await measurePages(fixture);
  await followRetry(fixture);
} finally {
  await db.close();
  await console_.stop();
}

async function measurePages(fixture: SyncFixture): Promise<void> {
  const destination = `/destinations/cloudA-sm/${fixture.destination}`;
  const secret = new RegExp(`^${fixture.mount}/seed/\\d{6}`);
  const pages: [path: string, shown: (page: Page) => Promise<unknown>][] = [
    ['/', (page) => page.getByText('10,000+ SYNCED').waitFor()],
    ['/destinations', (page) => page.getByRole('link', { name: fixture.destination }).waitFor()],
    [destination, (page) => page.getByRole('link', { name: secret }).first().waitFor()],
    [
      '/associations',
      (page) =>
        page
          .getByRole('link', { name: /^seed\// })
          .first()
          .waitFor(),
    ],
    ['/secrets', (page) => page.getByText(fixture.mount).first().waitFor()],
    ['/access', (page) => page.locator('h1', { hasNotText: 'such' }).waitFor()],
    ['/api', (page) => page.locator('h1', { hasNotText: 'such' }).waitFor()],
  ];
  const page = await console_.open('/not-a-page');
  for (const [path, shown] of pages) {
    const times: number[] = [];
    for (let at = 0; at < repetitions; at += 1) {
      await goTo(page, '/not-a-page');
      const started = performance.now();
      await goTo(page, path);
      await shown(page);
      times.push(performance.now() - started);
    }
    const [first = Number.NaN, ...again] = times;
    const median = again.sort((a, b) => a - b)[again.length >> 1] ?? Number.NaN;
    console.log(`${path}: ${first.toFixed(0)} ms, then ${median.toFixed(0)} ms`);
  }
  await goTo(page, destination);
  const started = performance.now();
  await page.getByLabel('Status', { exact: true }).selectOption({ label: 'With an error' });
  await page.getByText('no permission').first().waitFor();
  console.log(`${destination}, those with an error: ${(performance.now() - started).toFixed(0)} ms`);
  await console_.closePages();
}

/** Leads to a page as a link does. */
function goTo(page: Page, path: string): Promise<unknown> {
  return page.evaluate(`history.pushState(null, '', '/ui${path}')`);
}

async function followRetry(fixture: SyncFixture): Promise<void> {
  const page = await console_.open('/');
  await page.getByText(`${failed.toLocaleString('en')} CLIENT_SIDE_ERROR`).waitFor();
  expectStatus(await console_.api('POST', `${fixture.path}/retry`), 200);
  const started = performance.now();
  const hasFailed = async () =>
    (await db.query("select from sync.entries where status <> 'SYNCED' limit 1")).length > 0;
  await eventually(hasFailed, (is) => !is, 300_000);
  const syncedMs = performance.now() - started;
  await page.getByText('CLIENT_SIDE_ERROR').waitFor({ state: 'detached' });
  await page.getByText('nothing to do').waitFor();
  const shownMs = performance.now() - started;
  console.log(
    `${failed} retries were synced after ${(syncedMs / 1_000).toFixed(1)} s; the overview showed it ${(shownMs - syncedMs).toFixed(0)} ms later`,
  );
  await console_.closePages();
}
