import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { openPage, startBrowser, type WatchedPage } from './browser/browser.ts';

/** The service, a browser, and the pages that are open in it. */
export interface ConsoleForTest extends Installation {
  /** Opens an address below `/ui` in a session of its own, signed in with a token; default: the root token. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** Closes all pages. Throws if something went wrong in one of them. */
  closePages(): Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  token?: string;
  namespace?: string;
}

export async function startConsole(): Promise<ConsoleForTest> {
  const [service, browser] = await Promise.all([startInstallation(), startBrowser()]);
  const pages: WatchedPage[] = [];
  return {
    ...service,
    open: async (path, options = {}) => {
      const watched = await openSignedIn(browser, service, path, options);
      pages.push(watched);
      return watched.page;
    },
    closePages: async () => {
      const closed = pages.splice(0);
      await Promise.all(closed.map(({ close }) => close()));
      const faults = closed.flatMap(({ faults: found }) => found);
      if (faults.length > 0) throw new Error(`the browser reported:\n${faults.join('\n')}`);
    },
    stop: async () => {
      await browser.close();
      return service.stop();
    },
  };
}

/** Opens an address below `/ui` in a session of its own, and signs in. */
export async function openSignedIn(
  browser: Browser,
  { url, rootToken }: Pick<Installation, 'url' | 'rootToken'>,
  path: string,
  { token = rootToken, namespace = '', ...options }: OpenOptions,
): Promise<WatchedPage> {
  const watched = await openPage(browser, url, options);
  const { page } = watched;
  await page.goto(`/ui${path}`);
  if (namespace !== '') await page.getByLabel('Namespace').fill(namespace);
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return watched;
}
