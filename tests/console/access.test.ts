import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '../harness/http.ts';
import { describeInBrowser } from './browser/describe-in-browser.ts';
import { picture } from './browser/picture.ts';
import { replaceText } from './browser/replace-text.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';

describeInBrowser('access', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
    expectStatus(await console.api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
    for (const name of ['shop/db', 'shop/mail', 'bank/db'])
      expectStatus(await console.api('POST', `kv/data/${name}`, { data: { password: 'x' } }), 200);
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  /** A token with this policy alone. */
  async function tokenWith(name: string, policy: string) {
    expectStatus(await console.api('POST', `sys/policies/acl/${name}`, { policy }), 204);
    const created = await console.api('POST', 'auth/token/create', {
      policies: [name],
      no_default_policy: false,
    });
    return expectStatus(created, 200).body.auth as { client_token: string; accessor: string };
  }

  test('a token for one folder sees that folder, and nothing that names anything else', async () => {
    const { client_token: token } = await tokenWith(
      'shop',
      `path "kv/data/shop/*" { capabilities = ["read"] }
       path "kv/metadata/shop/*" { capabilities = ["read", "list"] }`,
    );
    const page = await console.open('/secrets', { token });
    await page.getByRole('link', { name: 'kv' }).click();
    await page.getByText('This needs the capability list on kv/metadata/.').waitFor();
    await page.getByLabel('Open a path').fill('kv/shop/');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('link', { name: 'db' }).click();
    await page.getByRole('button', { name: 'Show password, version 1' }).click();
    await page.getByText('x', { exact: true }).waitFor();
    for (const offer of ['Write', 'Delete', 'Destroy', 'Undelete', 'Save the metadata'])
      expect(await page.getByRole('button', { name: offer, exact: true }).count()).toBe(0);
    expect(await page.content()).not.toMatch(/bank|Synced to/);
  });

  test('a refusal names the capability and the path', async () => {
    const { client_token: token } = await tokenWith(
      'nothing',
      'path "kv/data/none" { capabilities = ["read"] }',
    );
    const page = await console.open('/access/policies', { token });
    await page.getByText('This needs the capability list on sys/policies/acl.').waitFor();
    const other = await console.open('/access/policies/policy?name=shop', { token });
    await other.getByText('This needs the capability read on sys/policies/acl/shop.').waitFor();
    const folder = await console.open('/secrets', { token });
    await folder.getByLabel('Open a path').fill('bank/x');
    await folder.getByRole('button', { name: 'Open', exact: true }).click();
    await folder.getByText('This needs the capability read on sys/internal/ui/mounts/bank/x.').waitFor();
  });

  test('a policy is written, and what a token may do with it is checked', async () => {
    const { accessor } = await tokenWith('edited', 'path "kv/data/none" { capabilities = ["read"] }');
    const page = await console.open('/access/policies/policy?name=edited');
    const editor = page.getByRole('textbox', { name: 'Text of edited' });
    await replaceText(editor, 'path "kv/data/x" { capabilities = ["nonsense"] }');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The policy was not saved.').waitFor();
    await replaceText(editor, 'path "kv/data/shop/*" { capabilities = ["read", "update"] }');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. It applies to every token').waitFor(); // “was not saved.” contains less of it
    await page.getByRole('link', { name: 'Policies' }).click();
    await page.getByLabel('Paths').fill('/v1/kv/data/shop/db\nkv/data/bank/db');
    await page.getByLabel('Accessor').fill(accessor);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('row', { name: 'kv/data/shop/db read, update' }).waitFor();
    await page.getByRole('row', { name: 'kv/data/bank/db deny' }).waitFor();
    await picture(page, 'policies', page.getByRole('region', { name: 'Check' }));
  });

  test('a token is found by its accessor, and revoked after a question', async () => {
    const { client_token: token, accessor } = await tokenWith(
      'short',
      'path "kv/data/none" { capabilities = ["read"] }',
    );
    const page = await console.open('/access/tokens');
    await page.getByRole('textbox', { name: 'Accessor' }).fill(accessor);
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('default, short').waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alertdialog').getByText('This cannot be undone').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    expect((await console.as(token)('GET', 'auth/token/lookup-self')).status).toBe(403);
  });

  test('a namespace is created and entered', async () => {
    const page = await console.open('/access/namespaces');
    await page.getByLabel('Name of the namespace').fill('team');
    await page.getByRole('button', { name: 'Create the namespace' }).click();
    await page.getByRole('button', { name: 'Enter team' }).click();
    await page.getByRole('button', { name: 'Namespace: team' }).waitFor();
    await page.getByText('Below team.').waitFor();
  });

  test('a role is written, and a diagnosis says which check refuses a login', async () => {
    const { tenant_id: tenant, identities } = await console.sandbox.directory();
    const resource = 'https://management.azure.com/';
    expectStatus(await console.api('POST', 'sys/auth/cloudB', { type: 'cloudB' }), 204);
    expectStatus(await console.api('POST', 'auth/cloudB/config', { tenant_id: tenant, resource }), 204);
    const [one, other] = identities as [{ name: string; oid: string }, { name: string; oid: string }];
    const page = await console.open('/access');
    await page.getByRole('link', { name: 'cloudB/' }).click();
    await page.getByLabel('Name of the role').fill('web');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    const role = { bound_service_principal_ids: [one.oid], token_policies: ['shop'] };
    await replaceText(page.getByRole('textbox', { name: 'Fields of the role' }), JSON.stringify(role));
    await page.getByRole('button', { name: 'Save the role' }).click();
    await page.getByText('The role was saved.').waitFor();
    await page.goBack();
    for (const [identity, verdict] of [
      [one, 'This login would succeed.'],
      [other, 'This login would be refused.'],
    ] as const) {
      const jwt = await console.sandbox.issueToken({ identity: identity.name, audience: resource });
      await page.getByRole('textbox', { name: 'Role (required)', exact: true }).fill('web');
      await page.getByLabel('JWT').fill(jwt);
      await page.getByRole('button', { name: 'Diagnose' }).click();
      await page.getByText(verdict).waitFor();
    }
    await page.getByRole('row', { name: /failed.*bound_service_principal_ids/ }).waitFor();
    await picture(page, 'diagnosis', page.getByRole('region', { name: 'Diagnosis' }));
  });

  test('an operation is found in the description, and tried out', async () => {
    const page = await console.open('/api');
    await page.getByLabel('Search').fill('version of a secret');
    await page.getByRole('link', { name: 'GET /v1/{mount}/data/{path}', exact: true }).click();
    await page.getByLabel('mount (path)').fill('kv');
    await page.getByLabel('path (path)').fill('shop/db');
    await page.getByRole('button', { name: 'Send GET' }).click();
    await page.getByText(/^Status 200/).waitFor();
    await page.getByRole('region', { name: 'Response' }).getByText('"password": "x"').waitFor();
    await picture(page, 'operation', page.getByRole('region', { name: 'Try it out' }));
    await page.getByRole('link', { name: 'All operations' }).click();
    await page.getByLabel('Search').fill('delete sys/mounts');
    await page.getByRole('link', { name: 'DELETE /v1/sys/mounts/{path}' }).click();
    await page.getByLabel('path (path)').fill('absent');
    await page.getByRole('button', { name: 'Send DELETE' }).click();
    await page.getByRole('alertdialog').getByText('This is not a trial').waitFor();
  });
});
