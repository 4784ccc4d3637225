import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../harness/eventually.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { picture } from './picture.ts';

describeInBrowser('the tour', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  /** The value of the only external secret. */
  const pushed = async () => Object.values(await console.sandbox.secrets())[0]?.value;
  const go = (page: Page, name: string) =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const confirm = (page: Page, name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

  async function writeSecret(page: Page, password: string, version: number) {
    await page.getByLabel('Key 1', { exact: true }).fill('password');
    await page.getByLabel('Value 1', { exact: true }).fill(password);
    await press(page, 'Write');
    await page.getByText(`Version ${version} was written.`).waitFor();
  }

  async function openSecret(page: Page) {
    await go(page, 'Secrets');
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    for (const name of ['secret', 'shop/', 'db'])
      await page.getByRole('main').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name: 'shop/db' }).waitFor();
  }

  async function openDestination(page: Page) {
    await go(page, 'Destinations');
    await page.getByRole('main').getByRole('link', { name: 'prod', exact: true }).click();
    await page.getByRole('heading', { name: 'prod', level: 1, exact: true }).waitFor();
  }

  async function changeKey(page: Page, key: string) {
    await openDestination(page);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('secret_access_key').fill(key);
    await picture(page, 'edit-destination');
    await press(page, 'Save');
    await page.getByRole('heading', { name: 'prod', level: 1, exact: true }).waitFor();
  }

  test('a newcomer syncs a secret, pauses, breaks the credentials, reads why it fails, fixes them and retries', async () => {
    const { access_key_id: id, secret_access_key: key } = await console.sandbox.credentials();
    const page = await console.open('/', { viewport: { width: 1120, height: 760 } });

    // A secret.
    await go(page, 'Secrets');
    await page.getByLabel('Path of the mount').fill('secret');
    await press(page, 'Create the mount');
    await page.getByLabel('Name in secret/').fill('shop/db');
    await press(page, 'Continue');
    await writeSecret(page, 'first', 1);

    // A destination.
    await go(page, 'Destinations');
    await page.getByRole('link', { name: 'New destination' }).click();
    await page.getByRole('textbox', { name: 'Name (required)', exact: true }).fill('prod');
    await page.getByLabel('access_key_id').fill(id);
    await page.getByLabel('secret_access_key').fill(key);
    await page.getByLabel('region', { exact: true }).fill('eu-west-1');
    await picture(page, 'new-destination');
    await press(page, 'Create');
    await page.getByRole('heading', { name: 'prod', level: 1, exact: true }).waitFor();

    // An association.
    await press(page, 'Associate a secret');
    await page.getByRole('dialog').getByLabel('Mount').fill('secret');
    await page.getByRole('dialog').getByLabel('Secret').fill('shop/db');
    await press(page, 'Show the plan');
    await page.getByText('1 external secret').waitFor();
    await picture(page, 'plan');
    await press(page, 'Associate');
    await page.getByRole('dialog').getByText('SYNCED').waitFor();
    await press(page, 'Close');
    expect(await pushed()).toContain('first');

    // A pause.
    await go(page, 'Overview');
    await press(page, 'Disable syncing');
    await picture(page, 'disable');
    await confirm(page, 'Disable');
    await page.getByText('Syncing is disabled.').waitFor();
    await openSecret(page);
    await writeSecret(page, 'second', 2);
    await page.getByRole('row', { name: /prod/ }).getByText('PENDING').waitFor();
    expect(await pushed()).toContain('first');
    await picture(page, 'secret');
    await go(page, 'Overview');
    await press(page, 'Enable syncing');
    await confirm(page, 'Enable');
    await eventually(pushed, (value) => value?.includes('second') === true);

    // Wrong credentials, and what they cause.
    await changeKey(page, 'wrong');
    await openSecret(page);
    await writeSecret(page, 'third', 3);
    await page.getByRole('row', { name: /prod/ }).getByText('CLIENT_SIDE_ERROR').waitFor();
    await openDestination(page);
    await page
      .getByText(/credentials|signature|not valid|rejected/i)
      .first()
      .waitFor();
    await picture(page, 'failed');
    await go(page, 'Associations');
    await page
      .getByRole('main')
      .getByRole('link', { name: /shop\/db/ })
      .first()
      .waitFor();
    await picture(page, 'associations');

    // The right ones again.
    await changeKey(page, key);
    await press(page, 'Retry what failed');
    await confirm(page, 'Retry');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await eventually(pushed, (value) => value?.includes('third') === true);
    await openSecret(page);
    await page.getByRole('row', { name: /prod/ }).getByText('SYNCED').waitFor();
    await go(page, 'Destinations');
    await page.getByRole('main').getByRole('link', { name: 'prod', exact: true }).waitFor();
    await picture(page, 'destinations');
    await go(page, 'Overview');
    await page.getByText('SYNCED').first().waitFor();
    await picture(page, 'overview');
  });
});
