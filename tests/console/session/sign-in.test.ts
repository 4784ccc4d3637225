import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '../../harness/http.ts';
import { describeInBrowser } from '../browser/describe-in-browser.ts';
import { type ConsoleForTest, startConsole } from '../console-for-test.ts';

const resource = 'https://secrets.example';

describeInBrowser('signing in', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
    const { tenant_id } = await console.sandbox.directory();
    await console.api('POST', 'sys/auth/cloudB', { type: 'cloudB' });
    expectStatus(await console.api('POST', 'auth/cloudB/config', { tenant_id, resource }), 204);
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  test('a token is in memory only, so a reload forgets it', async () => {
    const page = await console.open('/');
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(stored).toBe('[{},{},""]');
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a token is kept for the tab if the user asks for it, until they sign out', async () => {
    const page = await console.open('/');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Stay signed in when this tab is reloaded.').click();
    await page.getByRole('textbox', { name: 'Token' }).fill(console.rootToken);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('a token that the service does not accept is refused', async () => {
    const page = await console.open('/');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('textbox', { name: 'Token' }).fill('sst_wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('The service does not accept this token in this namespace.').waitFor();
  });

  test('a JWT of the directory is exchanged for a token, and a refused login says why', async () => {
    const [identity] = (await console.sandbox.directory()).identities;
    const role = { policies: 'default', bound_service_principal_ids: identity?.oid };
    await console.api('POST', 'auth/cloudB/role/shop', role);
    const jwt = await console.sandbox.issueToken({ identity: identity?.name ?? '', audience: resource });
    const page = await console.open('/');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('tab', { name: 'Directory JWT' }).click();
    await page.getByRole('textbox', { name: 'Role' }).fill('other');
    await page.getByRole('textbox', { name: 'JWT' }).fill(jwt);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('role: does not exist').waitFor();
    await page.getByRole('textbox', { name: 'Role' }).fill('shop');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  test('a session ends when its token is revoked, and says so', async () => {
    const created = await console.api('POST', 'auth/token/create', { policies: ['root'] });
    const token = created.body.auth.client_token;
    const page = await console.open('/destinations', { token });
    await page.getByRole('heading', { name: 'Destinations' }).waitFor();
    await console.api('POST', 'auth/token/revoke', { token });
    await page.getByText('The token has expired, was revoked, or is not valid here.').waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
