import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../../scripts/test-services/installed-chromium.ts';

const executable = findChromium();

/** Starts the browser. As root, Chromium runs only without its sandbox; the pages are our own. */
export function startBrowser(): Promise<Browser> {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  if (executable === undefined) throw new Error('Chromium is not installed');
  return chromium.launch({
    executablePath: executable,
    args: [...asRoot, '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** A page in a browser session of its own, and what went wrong in it. */
export interface WatchedPage {
  page: Page;
  /** Uncaught errors, errors in the log, and violations of the content security policy; also files that could not be loaded. */
  faults: string[];
  close(): Promise<void>;
}

/** Opens a page that is watched from the start. Nothing is loaded that is not of this origin, or of one in `elsewhere`. */
export async function openPage(
  browser: Browser,
  baseURL: string,
  options: BrowserContextOptions = {},
  elsewhere: readonly string[] = [],
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !isRefusal(message.text(), message.location().url))
      faults.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (![baseURL, 'data:', ...elsewhere].some((origin) => url.startsWith(origin)))
      faults.push(`requested ${url}`);
  });
  return { page, faults, close: () => context.close() };
}

/** The browser logs each response of the API that is an error, however it is handled. */
const isRefusal = (text: string, url: string): boolean =>
  text.startsWith('Failed to load resource') && new URL(url).pathname.startsWith('/v1/');
