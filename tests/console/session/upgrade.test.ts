import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { accessibilityFaults } from '../browser/accessibility.ts';
import { startBrowser, type WatchedPage } from '../browser/browser.ts';
import { describeInBrowser } from '../browser/describe-in-browser.ts';
import { type ConsoleForTest, openSignedIn, startConsole } from '../console-for-test.ts';

const isIndex = (url: URL) => url.pathname === '/ui/';
const storage = 'JSON.stringify([localStorage, sessionStorage])';

describeInBrowser('an upgrade, and a moment offline', () => {
  let console: ConsoleForTest;
  let browser: Browser;
  let opened: WatchedPage | undefined;

  beforeAll(async () => {
    [console, browser] = await Promise.all([startConsole(), startBrowser()]);
  });
  afterEach(() => opened?.close());
  afterAll(async () => {
    await browser?.close();
    await console?.stop();
  });

  /** Signs in with the root token. A file that is missing is in the log of the browser, so these pages are not watched. */
  async function open(path: string): Promise<Page> {
    opened = await openSignedIn(browser, console, path);
    return opened.page;
  }

  const link = (page: Page, name: string) => page.getByRole('navigation').getByRole('link', { name });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  /** Signs in while another version is served, as after an upgrade. */
  async function openAfterUpgrade(path: string): Promise<Page> {
    const page = await open(path);
    const body = '<!doctype html><script type="module" src="/ui/assets/index-other.js"></script>';
    await page.route(isIndex, (route) => route.fulfill({ body, contentType: 'text/html' }));
    await page.reload();
    await page.getByRole('textbox', { name: 'Token' }).fill(console.rootToken);
    await button(page, 'Sign in').click();
    await page.getByText('A new version is available.').waitFor();
    return page;
  }

  test('a page whose file is missing says so, the others work, and it can be tried again', async () => {
    const page = await open('/secrets');
    await page.route('**/ui/assets/**', (route) => route.fulfill({ status: 404 }));
    await link(page, 'Access').click();
    await page.getByRole('alert').getByText('This page could not be loaded').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await link(page, 'Secrets').click();
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    await link(page, 'Access').click();
    await page.unrouteAll();
    await button(page, 'Try again').click();
    await page.getByRole('heading', { name: 'Auth mounts', level: 1 }).waitFor();
  });

  test('a page that was opened offline is loaded when the connection is back', async () => {
    const page = await open('/secrets');
    await page.context().setOffline(true);
    await link(page, 'API').click();
    await page.getByText('This device has no connection.').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'API', level: 1 }).waitFor();
  });

  test('a new version is offered, and loaded without signing in again; no token stays in the storage', async () => {
    const page = await openAfterUpgrade('/secrets?mount=none');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate(storage)).not.toContain(console.rootToken);
    const loaded = page.waitForEvent('load');
    await button(page, 'Reload').click();
    await loaded;
    await button(page, 'Sign out').waitFor();
    expect(new URL(page.url()).search).toBe('?mount=none');
    expect(await page.evaluate(storage)).not.toContain(console.rootToken);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  });

  test('input is not lost to a new version without a question', async () => {
    const page = await openAfterUpgrade('/destinations/new');
    await page.getByLabel('region', { exact: true }).fill('entered');
    page.once('dialog', (question) => question.dismiss());
    await button(page, 'Reload').click();
    expect(await page.getByLabel('region', { exact: true }).inputValue()).toBe('entered');
  });

  test('a session that was left in the storage is removed, and used neither by a navigation nor later', async () => {
    const page = await open('/secrets');
    const user = JSON.stringify({ token: console.rootToken, namespace: '', isIssued: false });
    const leave = (ageMs: number) =>
      page.evaluate(`sessionStorage.setItem('handover',
        JSON.stringify({ user: ${user}, writtenAtMs: Date.now() - ${ageMs} }))`);
    for (const [ageMs, go] of [
      [0, () => page.goto('/ui/secrets?a=b')],
      [11_000, () => page.reload()],
    ] as const) {
      await leave(ageMs);
      await go();
      await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
      expect(await page.evaluate(storage)).not.toContain(console.rootToken);
    }
    await leave(0);
    await page.reload();
    await button(page, 'Sign out').waitFor();
  });
});
