import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { freePorts } from '../../../scripts/free-ports.ts';
import {
  clientId,
  clientSecret,
  type ProviderForTest,
  startProvider,
} from '../../../services/login/tests/jwt/oidc/provider-for-test.ts';
import { expectStatus } from '../../harness/http.ts';
import { accessibilityFaults } from '../browser/accessibility.ts';
import { describeInBrowser } from '../browser/describe-in-browser.ts';
import { picture } from '../browser/picture.ts';
import { type ConsoleForTest, startConsole } from '../console-for-test.ts';

/** A user whom the role admits. */
const ann = { sub: 'ann', claims: { groups: ['operators'] } };
const button = 'Sign in with Company directory';

describeInBrowser('people who sign in through a provider', () => {
  let console: ConsoleForTest;
  let provider: ProviderForTest;
  let down: ProviderForTest;

  const startProviderFor = (url: string) =>
    startProvider({
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [`${url}/ui/signed-in`],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
    });

  /** Enables a mount for a provider, and lists it. */
  async function enable(path: string, description: string, at: ProviderForTest): Promise<void> {
    const config = { listing_visibility: 'unauth' };
    expectStatus(await console.api('POST', `sys/auth/${path}`, { type: 'oidc', description, config }), 204);
    const settings = {
      oidc_discovery_url: at.url,
      oidc_client_id: clientId,
      oidc_client_secret: clientSecret,
      default_role: 'people',
    };
    expectStatus(await console.api('POST', `auth/${path}/config`, settings), 204);
    const role = {
      role_type: 'oidc',
      user_claim: 'sub',
      groups_claim: 'groups',
      bound_claims: { groups: ['operators'] },
      oidc_scopes: ['profile'],
      allowed_redirect_uris: [`${console.url}/ui/signed-in`],
      policies: 'operator',
    };
    expect([200, 204]).toContain((await console.api('POST', `auth/${path}/role/people`, role)).status);
  }

  beforeAll(async () => {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    [provider, down] = await Promise.all([startProviderFor(url), startProviderFor(url)]);
    const allowed = [provider, down].map((one) => `127.0.0.1/32:${one.port}`).join(',');
    console = await startConsole({ PORT: `${port}`, LOGIN_EGRESS_ALLOW: allowed });
    await enable('company', 'Company directory', provider);
  });
  afterAll(async () => {
    await console?.stop();
    await provider?.stop();
  });
  afterEach(() => console.closePages());

  async function signIn(options?: Parameters<ConsoleForTest['openSignIn']>[1]): Promise<Page> {
    provider.user = ann;
    const page = await console.openSignIn([provider.url], options);
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return page;
  }

  const tokenOf = async (page: Page, act: () => Promise<unknown>): Promise<string> => {
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.url().includes('/v1/') && 'x-service-token' in sent.headers()),
      act(),
    ]);
    return request.headers()['x-service-token'] ?? '';
  };

  test('a user signs in, works, and is signed in again after a reload, on the same page', async () => {
    const page = await signIn();
    await page.getByRole('link', { name: 'Destinations' }).click();
    await page.getByRole('heading', { name: 'Destinations' }).waitFor();
    await page.goto('/ui/destinations?of=me');
    await page.getByRole('heading', { name: 'Destinations' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Destinations' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/ui/destinations?of=me');
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(stored).not.toMatch(/sst_|code=|state|nonce/);
  });

  test('from the button to the overview, with a provider on this machine', async () => {
    provider.user = ann;
    const page = await console.openSignIn([provider.url]);
    await page.getByRole('button', { name: button }).waitFor();
    const before = performance.now();
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    globalThis.console.info(`sign-in to overview: ${Math.round(performance.now() - before)} ms`);
  });

  test('signing out revokes the token, and says that the session at the provider remains', async () => {
    const page = await signIn();
    const token = await tokenOf(page, () => page.getByRole('link', { name: 'Destinations' }).click());
    expect((await console.as(token)('GET', 'auth/token/lookup-self')).status).toBe(200);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('your token is revoked. Your session at Company directory remains').waitFor();
    expect((await console.as(token)('GET', 'auth/token/lookup-self')).status).toBe(403);
    await page.reload();
    await page.getByRole('button', { name: button }).waitFor(); // not signed in again
  });

  test('a token that has ended is replaced through the provider, without a question', async () => {
    provider.user = ann;
    const page = await console.openSignIn([provider.url]);
    await page.clock.install();
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const token = await tokenOf(page, () => page.getByRole('link', { name: 'Destinations' }).click());
    await page.getByRole('heading', { name: 'Destinations' }).waitFor();
    await page.clock.fastForward(31_000);
    expectStatus(await console.api('POST', 'auth/token/revoke', { token }), 204);
    const returned = page.waitForRequest((request) => request.url().includes('/ui/signed-in?'));
    await page.getByRole('link', { name: 'Associations' }).click();
    await returned;
    await page.getByRole('heading', { name: 'Associations' }).waitFor();
    const next = await tokenOf(page, () => page.getByRole('link', { name: 'Overview' }).click());
    expect(next).toMatch(/^sst_/);
    expect(next).not.toBe(token);
  });

  test('after the session at the provider has ended, a reload asks to sign in again', async () => {
    const page = await signIn();
    await page.context().clearCookies();
    await page.reload();
    await page.getByText('Your session at the provider has ended. Sign in again.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('a user without the group learns which check has failed', async () => {
    provider.user = { sub: 'eve', claims: { groups: ['guests'] } };
    const page = await console.openSignIn([provider.url]);
    await page.getByRole('button', { name: button }).click();
    await page.getByText('You may not sign in here.').waitFor();
    await page.getByText(/bound_claims.*groups|groups.*bound_claims/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('a provider that is down is named as the cause, and a token still works', async () => {
    await enable('down', 'Directory that is down', down);
    await down.stop();
    const page = await console.openSignIn([]);
    await page.getByRole('button', { name: 'Sign in with Directory that is down' }).click();
    await page.getByText('The provider does not respond.').waitFor();
    await page.getByRole('textbox', { name: 'Token' }).fill(console.rootToken);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expectStatus(await console.api('DELETE', 'sys/auth/down'), 204);
  });

  test('a provider that does not send the user back is not asked again', async () => {
    const page = await signIn();
    await page.route(`${provider.url}/**`, (route) => route.abort());
    const failed = page.waitForEvent('requestfailed', (request) => request.url().startsWith(provider.url));
    await page.reload().catch(() => undefined);
    await failed;
    await page.unrouteAll();
    await page.goto('/ui/');
    await page.getByText('The provider did not send you back.').waitFor();
  });

  test('a response of the provider works once, and only in the tab that began', async () => {
    provider.user = ann;
    const page = await console.openSignIn([provider.url]);
    const [callback] = await Promise.all([
      page.waitForRequest((request) => request.url().includes('/ui/signed-in?')),
      page.getByRole('button', { name: button }).click(),
    ]);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const other = await console.openSignIn([provider.url]);
    for (const tab of [page, other]) {
      await tab.goto(callback.url());
      await tab.getByText('This sign-in was not begun in this tab, or was used before.').waitFor();
      expect(tab.url()).not.toContain('code=');
    }
  });

  test('with the keyboard only', async () => {
    provider.user = ann;
    const page = await console.openSignIn([provider.url]);
    await page.getByRole('button', { name: button }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe(button);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 320],
    ['dark', 320],
  ] as const)('the page is accessible and fits the window: %s, %i px', async (colorScheme, width) => {
    const page = await console.openSignIn([], { colorScheme, viewport: { width, height: 800 } });
    await page.getByRole('button', { name: button }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0);
    if (colorScheme === 'light' && width === 1280) await picture(page, 'sign-in');
  });
});
