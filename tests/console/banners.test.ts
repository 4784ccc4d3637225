import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '../harness/http.ts';
import { openDatabase } from '../harness/standalone.ts';
import { accessibilityFaults } from './browser/accessibility.ts';
import { describeInBrowser } from './browser/describe-in-browser.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';

describeInBrowser('what concerns every page', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  const banner = '.banner';

  test('is nothing, if all is well', async () => {
    const page = await console.open('/secrets');
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.locator(banner).count()).toBe(0);
  });

  test('is that syncing is disabled, until it is enabled', async () => {
    const page = await console.open('/secrets');
    await page.getByText('live', { exact: true }).waitFor();
    expectStatus(await console.api('PATCH', 'sys/sync/config', { disabled: true }), 200);
    await page.getByText('Syncing is disabled:').waitFor({ timeout: 10_000 });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Open the overview' }).click();
    await page.getByRole('button', { name: 'Enable syncing' }).waitFor();
    expect(await page.locator(banner).count()).toBe(0);
    await page.getByRole('navigation').getByRole('link', { name: 'Secrets' }).click();
    await page.getByText('Syncing is disabled:').waitFor();
    expectStatus(await console.api('PATCH', 'sys/sync/config', { disabled: false }), 200);
    await page.getByText('Syncing is disabled:').waitFor({ state: 'detached', timeout: 10_000 });
  });

  test('is that syncing is held', async () => {
    const db = openDatabase(console);
    await db.query(`update sync.installation set held_because = 'database'`);
    const page = await console.open('/access');
    await page.getByText('Syncing is held:').waitFor();
    await db.query('update sync.installation set held_because = null');
    await db.close();
  });

  test('is that the audit log cannot be written, until it can', async () => {
    const page = await console.open('/secrets');
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    const body = JSON.stringify({ errors: ['the audit log cannot be written'] });
    await page.route('**/v1/sys/internal/ui/mounts', (route) => route.fulfill({ status: 503, body }));
    await page.getByRole('navigation').getByRole('link', { name: 'Access' }).click();
    await page.getByText('The audit log cannot be written.', { exact: true }).waitFor();
    await page.unrouteAll();
    await page.getByText('The audit log cannot be written.', { exact: true }).waitFor({ state: 'detached' });
  });

  test('is that the connection is not encrypted, except on this machine', async () => {
    const page = await console.open('/secrets', { colorScheme: 'dark' });
    await page.addInitScript(`Object.defineProperty(window, 'isSecureContext', { value: false })`);
    await page.goto('/ui/secrets');
    await page.getByRole('textbox', { name: 'Token' }).fill(console.rootToken);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    await page.getByText('This connection is not encrypted.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
