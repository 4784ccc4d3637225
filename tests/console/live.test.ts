import { afterAll, afterEach, beforeAll, test } from '@jest/globals';
import { SyncFixture } from '../harness/sync-fixture.ts';
import { describeInBrowser } from './browser/describe-in-browser.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';

/** Less than the interval at which pages are read again without an event. */
const soon = { timeout: 10_000 };

describeInBrowser('live updates', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  async function openDestination() {
    const fixture = await SyncFixture.create(console);
    const page = await console.open(`/destinations/cloudA-sm/${fixture.destination}`);
    await page.getByText('No secret is associated with this destination.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    return { fixture, page };
  }

  test('what happens is shown without reloading the page', async () => {
    const { fixture, page } = await openDestination();
    await fixture.sync('a', { n: '1' });
    await page.getByRole('cell').getByText('SYNCED').waitFor(soon);
  });

  test('a stream that breaks is shown as such, and taken up again', async () => {
    const { fixture, page } = await openDestination();
    const restarted = console.crash();
    await page.getByText('reconnecting', { exact: true }).waitFor();
    await restarted;
    await page.getByText('live', { exact: true }).waitFor();
    await fixture.sync('a', { n: '1' });
    await page.getByRole('cell').getByText('SYNCED').waitFor(soon);
  });

  test('the attempts of the last hour are plotted, with their totals in a table', async () => {
    const fixture = await SyncFixture.create(console);
    const page = await console.open('/');
    await page.getByRole('img', { name: /^Attempts per minute/ }).waitFor();
    await fixture.sync('a', { n: '1' });
    const table = page.getByRole('region', { name: 'Attempts in the last hour by type' });
    await table.getByRole('cell', { name: 'cloudA-sm' }).waitFor(soon);
  });
});
