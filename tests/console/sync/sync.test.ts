import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectStatus } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { describeInBrowser } from '../browser/describe-in-browser.ts';
import { type ConsoleForTest, startConsole } from '../console-for-test.ts';

describeInBrowser('destinations and associations', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
    expectStatus(await console.api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
    await console.api('POST', 'kv/data/shop/db', { data: { password: 'x' } });
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  const press = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' }).click();
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
  const pathOf = (name: string) => `sys/sync/destinations/cloudA-sm/${name}`;
  const addressOf = (name: string) => `/destinations/cloudA-sm/${name}`;

  /** Holds what the page reads of destinations, as a slow service would, until the returned function is called. */
  async function holdReads(page: Page): Promise<() => Promise<void>> {
    const { promise: end, resolve: letPass } = Promise.withResolvers<void>();
    const reads = /\/v1\/sys\/sync\//;
    await page.route(reads, async (route) => {
      if (route.request().method() === 'GET') await end;
      await route.fallback();
    });
    return async () => {
      letPass();
      await page.unroute(reads);
    };
  }

  async function fillKeys(page: Page, keys: { access_key_id: string; secret_access_key: string }) {
    for (const [name, value] of Object.entries(keys)) await field(page, name).fill(value);
  }

  test('a newcomer syncs a secret, breaks the credentials, reads why it fails, and fixes them', async () => {
    const keys = await console.sandbox.credentials();
    const page = await console.open('/destinations');
    await page.getByRole('link', { name: 'New destination' }).click();
    await page.getByRole('textbox', { name: 'Name (required)' }).fill('tour');
    await field(page, 'region').fill('eu-west-1');
    await fillKeys(page, keys);
    await press(page, 'Create');
    await press(page, 'Check the credentials');
    await page.getByText('The credentials and permissions suffice.').waitFor();
    await press(page, 'Close');

    await press(page, 'Associate a secret');
    await page.getByLabel('Mount (required)').fill('kv');
    await page.getByLabel('Secret (required)').fill('shop/db');
    await press(page, 'Show the plan');
    await page.getByRole('cell', { name: 'created' }).waitFor();
    await press(page, 'Associate');
    await page.getByRole('dialog').getByText('SYNCED').waitFor();
    await press(page, 'Close');

    await page.getByRole('link', { name: 'Edit' }).click();
    await field(page, 'secret_access_key').fill('wrong');
    await press(page, 'Save');
    await console.api('POST', 'kv/data/shop/db', { data: { password: 'y' } });
    await page.getByText(/the signature was not accepted/).waitFor();

    await page.getByRole('link', { name: 'Edit' }).click();
    await field(page, 'secret_access_key').fill(keys.secret_access_key);
    await press(page, 'Save');
    await page.getByRole('cell').getByText('SYNCED').waitFor();

    await page.getByRole('link', { name: 'History of kv/shop/db' }).click();
    await page.getByText('unauthenticated').waitFor();
  });

  test('settings that are refused are explained at their fields', async () => {
    const page = await console.open('/destinations/new');
    await page.getByRole('textbox', { name: 'Name (required)' }).fill('refused');
    await field(page, 'region').fill('nowhere');
    await field(page, 'access_key_id').fill('AKIA');
    await press(page, 'Create');
    await page.getByText('must be a region such as eu-central-1', { exact: true }).waitFor();
    expectStatus(await console.api('GET', pathOf('refused')), 404);
  });

  test('stored credentials are not shown, and kept unless they are changed', async () => {
    const fixture = await SyncFixture.create(console);
    const { secret_access_key: secret } = await console.sandbox.credentials();
    const page = await console.open(`${addressOf(fixture.destination)}/edit`);
    expect(await field(page, 'secret_access_key').inputValue()).toBe('*****');
    await field(page, 'kms_key_id').fill('alias/sandbox');
    await press(page, 'Save');
    await press(page, 'Check the credentials');
    await page.getByText('The credentials and permissions suffice.').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('a changed template shows what it would change, before a replan does it', async () => {
    const fixture = await SyncFixture.create(console);
    await fixture.sync('a', { n: '1' });
    const page = await console.open(`${addressOf(fixture.destination)}/edit`);
    await field(page, 'secret_name_template').fill('new/{{ .SecretPath }}');
    await press(page, 'Save');
    await page.getByText('1 external secret would be created and 1 deleted').waitFor();
    expect(await console.sandbox.find('cloudA-sm', 'new/a')).toBeUndefined();
    await press(page, 'Replan');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Replan' }).click();
    await page.getByRole('cell', { name: 'new/a' }).waitFor();
  });

  test('associations are filtered by status, retried together, and removed with what they have created', async () => {
    const fixture = await SyncFixture.create(console);
    for (const name of ['a', 'b']) await fixture.sync(name, { n: name });
    const page = await console.open(addressOf(fixture.destination));
    await page.getByLabel('Status', { exact: true }).selectOption({ label: 'With an error' });
    await page.getByText('None has this status.').waitFor();
    await page.getByLabel('Status', { exact: true }).selectOption({ label: 'All' });
    await page.locator('label', { has: page.getByLabel('Select all on this page') }).click();
    await press(page, 'Retry 2 selected');
    const readAgain = await holdReads(page);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Retry' }).click();
    await page.getByText('2 of 2 requested, 0 refused').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await readAgain();
    await press(page, `Remove ${fixture.mount}/a`);
    await page.getByRole('alertdialog').getByText('1 external secret', { exact: true }).waitFor();
    await page.getByRole('alertdialog').getByText(fixture.externalName('a')).waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('link', { name: `${fixture.mount}/a`, exact: true }).waitFor({ state: 'detached' });
    expect(await console.sandbox.find('cloudA-sm', fixture.externalName('a'))).toBeUndefined();
    await press(page, `Remove ${fixture.mount}/b`);
    await page.getByText('Keep the external secrets.').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('link', { name: `${fixture.mount}/b`, exact: true }).waitFor({ state: 'detached' });
    expect(await console.sandbox.find('cloudA-sm', fixture.externalName('b'))).toBeDefined();
  });

  test('a destination with associations is deleted only after their number was shown', async () => {
    const fixture = await SyncFixture.create(console);
    await fixture.sync('a', { n: '1' });
    const page = await console.open(addressOf(fixture.destination));
    await press(page, 'Delete');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('manages 1 association').waitFor();
    expectStatus(await console.api('GET', fixture.path), 200);
    await press(page, 'Unsync everything and delete');
    await page.getByText('This destination does not exist.').waitFor();
    expect(await console.sandbox.find('cloudA-sm', fixture.externalName('a'))).toBeUndefined();
  });

  test('syncing is switched off and on for all, after saying what that does', async () => {
    const page = await console.open('/');
    await press(page, 'Disable syncing');
    await page.getByText('nothing is sent to any destination of any namespace').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Syncing is disabled.').waitFor();
    await press(page, 'Enable syncing');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Syncing is enabled.').waitFor();
  });

  test('a token is offered what it may do, and what it lacks has the name of the capability and the path', async () => {
    const fixture = await SyncFixture.create(console);
    await fixture.sync('a', { n: '1' });
    const policy = `path "${fixture.path}" { capabilities = ["read"] }`;
    await console.api('POST', 'sys/policies/acl/reader', { policy });
    const created = await console.api('POST', 'auth/token/create', { policies: ['reader', 'default'] });
    const page = await console.open(addressOf(fixture.destination), {
      token: created.body.auth.client_token,
    });
    await page.getByText(`This needs the capability read on ${fixture.path}/associations.`).waitFor();
    await page.getByText('Settings').waitFor();
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Namespace: root', 'Sign out']);
    const offered = await page.getByRole('navigation').getByRole('link').allInnerTexts();
    for (const name of ['Overview', 'Destinations', 'Associations']) expect(offered).not.toContain(name);
  });

  test('a dialog is opened, used and left with the keyboard alone', async () => {
    const fixture = await SyncFixture.create(console);
    const page = await console.open(addressOf(fixture.destination));
    const button = page.getByRole('button', { name: 'Associate a secret' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('kv');
    await page.keyboard.press('Tab');
    await page.keyboard.type('shop/db');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'created' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Associate a secret');
  });
});
