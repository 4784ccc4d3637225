import type { Page } from 'playwright-core';
import { eventually } from '../harness/eventually.ts';
import type { SandboxControl } from '../harness/sandbox-control.ts';
import { picture } from './browser/picture.ts';

/** The starting point of a newcomer: a signed-in console in a new installation, and the sandbox. */
export interface Visit {
  page: Page;
  sandbox: Pick<SandboxControl, 'credentials' | 'secrets'>;
}

/**
 * Takes the tour of docs/console.md, without another client: syncs a secret, pauses, breaks the credentials, reads why
 * it fails, fixes them and retries. Throws if anything is not as the page says.
 */
export async function takeTour({ page, sandbox }: Visit): Promise<void> {
  const { access_key_id: id, secret_access_key: key } = await sandbox.credentials();
  /** Waits until the only external secret contains a text. */
  const untilPushed = async (text: string) => {
    const value = async () => Object.values(await sandbox.secrets())[0]?.value;
    await eventually(value, (pushed) => pushed?.includes(text) === true);
  };
  await createSecret(page);
  await createDestination(page, id, key);
  await associate(page);
  await untilPushed('first');
  await pause(page);
  await untilPushed('first');
  await resume(page);
  await untilPushed('second');
  await breakCredentials(page);
  await fixCredentials(page, key);
  await untilPushed('third');
  await showTheResult(page);
}

/** Creates a mount, and a secret in it. */
async function createSecret(page: Page): Promise<void> {
  await go(page, 'Secrets');
  await page.getByLabel('Path of the mount').fill('secret');
  await press(page, 'Create the mount');
  await page.getByLabel('Name in secret/').fill('shop/db');
  await press(page, 'Continue');
  await writeSecret(page, 'first', 1);
}

/** Creates a destination with the credentials of the sandbox. */
async function createDestination(page: Page, id: string, key: string): Promise<void> {
  await go(page, 'Destinations');
  await page.getByRole('link', { name: 'New destination' }).click();
  await page.getByRole('textbox', { name: 'Name (required)', exact: true }).fill('prod');
  await page.getByLabel('access_key_id').fill(id);
  await page.getByLabel('secret_access_key').fill(key);
  await page.getByLabel('region', { exact: true }).fill('eu-west-1');
  await picture(page, 'new-destination');
  await press(page, 'Create');
  await page.getByRole('heading', { name: 'prod', level: 1, exact: true }).waitFor();
}

/** Associates the secret, after its plan was shown. */
async function associate(page: Page): Promise<void> {
  await press(page, 'Associate a secret');
  await page.getByRole('dialog').getByLabel('Mount').fill('secret');
  await page.getByRole('dialog').getByLabel('Secret').fill('shop/db');
  await press(page, 'Show the plan');
  await page.getByText('1 external secret').waitFor();
  await picture(page, 'plan');
  await press(page, 'Associate');
  await page.getByRole('dialog').getByText('SYNCED').waitFor();
  await press(page, 'Close');
}

/** Disables syncing, and writes another version. */
async function pause(page: Page): Promise<void> {
  await go(page, 'Overview');
  await press(page, 'Disable syncing');
  await picture(page, 'disable');
  await confirm(page, 'Disable');
  await page.getByText('Syncing is disabled.').waitFor();
  await openSecret(page);
  await writeSecret(page, 'second', 2);
  await page.getByRole('row', { name: /prod/ }).getByText('PENDING').waitFor();
  await picture(page, 'secret');
}

/** Enables syncing again. */
async function resume(page: Page): Promise<void> {
  await go(page, 'Overview');
  await press(page, 'Enable syncing');
  await confirm(page, 'Enable');
}

/** Replaces the key of the destination, and reads what that causes. */
async function breakCredentials(page: Page): Promise<void> {
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
}

/** Enters the right key again, and retries. */
async function fixCredentials(page: Page, key: string): Promise<void> {
  await changeKey(page, key);
  await press(page, 'Retry what failed');
  await confirm(page, 'Retry');
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
}

/** Shows the secret, the destination and the overview. */
async function showTheResult(page: Page): Promise<void> {
  await openSecret(page);
  await page.getByRole('row', { name: /prod/ }).getByText('SYNCED').waitFor();
  await go(page, 'Destinations');
  await page.getByRole('main').getByRole('link', { name: 'prod', exact: true }).waitFor();
  await picture(page, 'destinations');
  await go(page, 'Overview');
  await page.getByText('SYNCED').first().waitFor();
  await picture(page, 'overview');
}

const go = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();
const confirm = (page: Page, name: string): Promise<void> =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

async function writeSecret(page: Page, password: string, version: number): Promise<void> {
  if (version > 1) await press(page, 'Write a new version');
  await page.getByLabel('Key 1', { exact: true }).fill('password');
  await page.getByLabel('Value 1', { exact: true }).fill(password);
  if (version === 1) await press(page, 'Write');
  else await reviewAndWrite(page, version);
  await page.getByText(`Version ${version} was written.`).waitFor();
}

/** Writes a version after its changes were shown. */
async function reviewAndWrite(page: Page, version: number): Promise<void> {
  await press(page, 'Review and write');
  await page.getByRole('alertdialog').getByText('prod').waitFor();
  if (version === 2) await picture(page, 'review');
  await confirm(page, 'Write');
}

async function openSecret(page: Page): Promise<void> {
  await go(page, 'Secrets');
  await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
  for (const name of ['secret', 'shop/', 'db'])
    await page.getByRole('main').getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name: 'shop/db' }).waitFor();
}

async function openDestination(page: Page): Promise<void> {
  await go(page, 'Destinations');
  await page.getByRole('main').getByRole('link', { name: 'prod', exact: true }).click();
  await page.getByRole('heading', { name: 'prod', level: 1, exact: true }).waitFor();
}

async function changeKey(page: Page, key: string): Promise<void> {
  await openDestination(page);
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.getByLabel('secret_access_key').fill(key);
  await picture(page, 'edit-destination');
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'prod', level: 1, exact: true }).waitFor();
}
