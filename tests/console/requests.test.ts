import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { SyncFixture } from '../harness/sync-fixture.ts';
import { describeInBrowser } from './browser/describe-in-browser.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';

const minutes = 10;
const pages = ['Destinations', 'Associations', 'Secrets', 'Overview'];

/** Moves the clock of the page, which only the test moves: the numbers do not depend on how fast this machine is. */
async function pass(page: Page, seconds: number): Promise<void> {
  await page.clock.runFor(seconds * 1_000);
}

/** The paths of the requests to the API from now on. Each is two lines in the audit. */
function requestsOf(page: Page): string[] {
  const paths: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/v1/') && !pathname.endsWith('/events')) paths.push(pathname);
  });
  return paths;
}

/** Waits until what the page began to load before is loaded: what a response shows may need another request. */
async function untilStill(page: Page): Promise<void> {
  const requests = requestsOf(page);
  let before: number;
  do {
    before = requests.length;
    await pass(page, 1);
    await sleep(500);
  } while (requests.length > before);
}

const ofCapabilities = (paths: readonly string[]) =>
  paths.filter((path) => path === '/v1/sys/capabilities-self').length;

/** Visits each page, and stays for a quarter of a minute. */
async function visitAll(page: Page): Promise<void> {
  for (const name of pages) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, exact: true }).waitFor();
    await pass(page, 60 / pages.length);
  }
}

describeInBrowser('requests of the console', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  async function openStill(): Promise<Page> {
    await SyncFixture.create(console);
    const page = await console.openSignIn([]);
    await page.clock.install();
    await page.getByRole('textbox', { name: 'Token' }).fill(console.rootToken);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    return page;
  }

  test('an open console asks seldom what its token may do, and what it shows is read twice a minute', async () => {
    const page = await openStill();
    const requests = requestsOf(page);
    for (let minute = 0; minute < minutes; minute += 1) await visitAll(page);
    const perMinute = { all: requests.length / minutes, capabilities: ofCapabilities(requests) / minutes };
    globalThis.console.info(`requests per minute: ${JSON.stringify(perMinute)}`);
    expect(perMinute.capabilities).toBeGreaterThan(0);
    expect(perMinute.capabilities).toBeLessThanOrEqual(1);
    expect(perMinute.all).toBeLessThanOrEqual(15);
  });

  test('a hidden console asks for nothing', async () => {
    const page = await openStill();
    await page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);
    await untilStill(page);
    const requests = requestsOf(page);
    await pass(page, minutes * 60);
    expect(requests).toEqual([]);
  });
});
