import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type Installation, startInstallation } from '../harness/installation.ts';
import { openPage, startBrowser, type WatchedPage } from './browser/browser.ts';

/** The service, a browser, and the pages that are open in it. */
export interface ConsoleForTest extends Installation {
  /**
   * Opens an address below `/ui`, signed in with a token; default: the root token. With options of the browser, the page has a
   * session of its own. Otherwise it may be one that an earlier test has left: a page in a new process takes three times as
   * much CPU time.
   */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** Opens the sign-in page, which may leave for other origins. */
  openSignIn(elsewhere: readonly string[], options?: BrowserContextOptions): Promise<Page>;
  /** Closes all pages. Throws if something went wrong in one of them. */
  closePages(): Promise<void>;
}

interface SignIn {
  token?: string;
  namespace?: string;
}

type OpenOptions = SignIn & BrowserContextOptions;

interface OpenedPage extends WatchedPage {
  /** Whether it was opened without options of the browser. */
  isPlain: boolean;
}

/** @param settings variables of the environment of the service */
export async function startConsole(settings: Readonly<Record<string, string>> = {}): Promise<ConsoleForTest> {
  const [service, browser] = await Promise.all([startInstallation(settings), startBrowser()]);
  const pages: OpenedPage[] = [];
  let free: WatchedPage | undefined;
  return {
    ...service,
    open: async (path, { token = service.rootToken, namespace = '', ...options } = {}) => {
      const isPlain = Object.keys(options).length === 0;
      const watched = (isPlain && free) || (await openPage(browser, service.url, options));
      if (watched === free) free = undefined;
      pages.push({ ...watched, isPlain });
      await signIn(watched.page, path, { token, namespace });
      return watched.page;
    },
    openSignIn: async (elsewhere, options = {}) => {
      const watched = await openPage(browser, service.url, options, elsewhere);
      pages.push({ ...watched, isPlain: false });
      await watched.page.goto('/ui/');
      await watched.page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
      return watched.page;
    },
    closePages: async () => {
      const opened = pages.splice(0);
      const faults = opened.flatMap(({ faults: found }) => found.splice(0));
      free ??= opened.find(({ isPlain }) => isPlain);
      await Promise.all(opened.map((one) => (one.page === free?.page ? clear(one) : one.close())));
      if (faults.length > 0) throw new Error(`the browser reported:\n${faults.join('\n')}`);
    },
    stop: async () => {
      await browser.close();
      return service.stop();
    },
  };
}

/** Removes what a test and the console have left in a page. The next address replaces what is in its memory. */
async function clear({ page }: WatchedPage): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
}

/** Opens an address below `/ui` in a session of its own, and signs in. */
export async function openSignedIn(
  browser: Browser,
  { url, rootToken }: Pick<Installation, 'url' | 'rootToken'>,
  path: string,
): Promise<WatchedPage> {
  const watched = await openPage(browser, url);
  await signIn(watched.page, path, { token: rootToken, namespace: '' });
  return watched;
}

async function signIn(page: Page, path: string, { token, namespace }: Required<SignIn>): Promise<void> {
  await page.goto(`/ui${path}`);
  if (namespace !== '') await page.getByLabel('Namespace').fill(namespace);
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
