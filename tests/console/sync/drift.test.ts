import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectStatus } from '../../harness/http.ts';
import { openDatabase } from '../../harness/standalone.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { accessibilityFaults } from '../browser/accessibility.ts';
import { describeInBrowser } from '../browser/describe-in-browser.ts';
import { type ConsoleForTest, startConsole } from '../console-for-test.ts';

describeInBrowser('what somebody else has changed in a store', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const confirm = (page: Page, name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();
  const addressOf = ({ destination }: SyncFixture) => `/destinations/cloudA-sm/${destination}`;
  const rowOf = (page: Page, secret: string) => page.getByRole('row').filter({ hasText: secret });

  async function inDatabase(sql: string, values: unknown[] = []): Promise<void> {
    const db = openDatabase(console);
    await db.query(sql, values);
    await db.close();
  }

  /** Lets more time pass since the last pushes than a store may need to show them. */
  const timePasses = () =>
    inDatabase(`update sync.entries set synced_at = synced_at - interval '10 minutes'`);

  /** A destination with two secrets, of which somebody else has changed `a`. */
  async function createChanged(): Promise<SyncFixture> {
    const fixture = await SyncFixture.create(console);
    for (const name of ['a', 'b']) await fixture.sync(name, { n: name });
    await console.sandbox.changeByHand('cloudA-sm', fixture.externalName('a'), 'edit');
    await timePasses();
    return fixture;
  }

  test('an inspection of an association shows it, with the evidence; then it is filtered and counted', async () => {
    const fixture = await createChanged();
    const page = await console.open(addressOf(fixture));
    await page.getByText('No external secret is known to have been changed by somebody else.').waitFor();
    await press(page, `Inspect ${fixture.mount}/a now`);
    const found = page.getByRole('dialog');
    await found.getByText('changed', { exact: true }).waitFor();
    await found.getByText('the value was compared').waitFor();
    await found.getByText(/was changed by somebody else on .* \(version/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await found.waitFor({ state: 'detached' });

    await page.getByRole('region', { name: 'Drift' }).getByText('1 changed').waitFor();
    await rowOf(page, 'CLIENT_SIDE_ERROR').getByText('changed', { exact: true }).waitFor();
    const filter = page.getByLabel('In the store', { exact: true });
    await filter.selectOption({ label: 'Drifted' });
    await rowOf(page, `${fixture.mount}/b`).waitFor({ state: 'detached' });
    await rowOf(page, `${fixture.mount}/a`).waitFor();
    await filter.selectOption({ label: 'missing' });
    await page.getByText('No external secret with this status has drifted like this.').waitFor();

    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    await rowOf(page, fixture.destination).getByText('CLIENT_SIDE_ERROR').waitFor();
    await rowOf(page, fixture.destination).getByText('1 changed').waitFor();
  });

  test('everything in a destination is inspected after a question, with its progress', async () => {
    const fixture = await createChanged();
    await console.sandbox.changeByHand('cloudA-sm', fixture.externalName('b'), 'delete');
    const slow = await console.sandbox.fault({ effect: 'slow', ms: 2_000 });
    const page = await console.open(addressOf(fixture));
    await press(page, 'Inspect now');
    await page.getByText('changes nothing in the store').waitFor();
    await confirm(page, 'Inspect');
    await page.getByText('The external secrets are being looked at.').waitFor();
    await slow.remove();
    await rowOf(page, `${fixture.mount}/a`).getByText('changed', { exact: true }).waitFor();
    await rowOf(page, `${fixture.mount}/b`).getByText('missing', { exact: true }).waitFor();
    await page.getByText(/Everything was looked at since/).waitFor();
  });

  test('held repairs say how many and which would be pushed, before they are confirmed with the keyboard', async () => {
    const fixture = await SyncFixture.create(console, { granularity: 'secret-key' });
    await fixture.write('s', Object.fromEntries(Array.from({ length: 60 }, (_, key) => [`k${key}`, 'v'])));
    expectStatus(await fixture.setAndWait('s'), 200);
    await inDatabase(
      `update sync.entries set status = 'CLIENT_SIDE_ERROR', drift = 'changed', drift_seen_at = now(), last_error = 'changed'
        where id in (select e.id from sync.entries e join sync.destinations d on d.id = e.destination_id
                      where d.name = $1 order by e.id limit 52)`,
      [fixture.destination],
    );
    expectStatus(await console.api('PATCH', fixture.path, { drift_policy: 'repair' }), 200);
    const page = await console.open('/');
    await rowOf(page, fixture.destination).getByText('repairs wait for a confirmation').waitFor();
    await page.getByRole('link', { name: fixture.destination }).click();
    await page.getByText('Repairs are held').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Confirm the repairs' }).focus();
    await page.keyboard.press('Enter');
    const question = page.getByRole('alertdialog', { name: /^Push 52 external secrets to/ });
    await question.getByText('and others').waitFor();
    expect(await question.getByRole('listitem').count()).toBe(5);
    await question.getByText(`changed, from ${fixture.mount}/s`).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Repairs are held').waitFor({ state: 'detached' });
    await page.getByText('No external secret is known to have been changed').waitFor();
  });

  test('held syncing says why and what to do, and continues when the installation is confirmed', async () => {
    const fixture = await SyncFixture.create(console);
    await inDatabase(`update sync.installation set held_because = 'database'`);
    const page = await console.open('/');
    await page.getByText('Syncing is held.').waitFor();
    await page.getByText('The database is not the one that was used before').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await fixture.write('s', { n: '1' });
    await fixture.set('s');
    const ofDestination = await console.open(addressOf(fixture));
    await ofDestination.getByText('Syncing is held.').waitFor();
    await ofDestination.getByRole('button', { name: 'Confirm this installation' }).waitFor();
    await press(page, 'Confirm this installation');
    await page.getByText('overwrites what another installation may have written').waitFor();
    await confirm(page, 'Yes, continue');
    await page.getByText('Syncing is held.').waitFor({ state: 'detached' });
    await fixture.untilStatus('s', 'SYNCED');
  });
});
