import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { expectStatus } from '../harness/http.ts';
import { SyncFixture } from '../harness/sync-fixture.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { replaceText } from './replace-text.ts';

const canary = 'canary-4f1d';

describeInBrowser('secrets', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
    expectStatus(await console.api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  const versionOf = async (name: string) =>
    (await console.api('GET', `kv/metadata/${name}`)).body?.data?.current_version;
  const addressOf = (name: string) => `/secrets/secret?mount=kv&name=${encodeURIComponent(name)}`;

  test('a mount and a secret are created without leaving the pages', async () => {
    const page = await console.open('/secrets');
    await page.getByLabel('Path of the mount').fill('team/shop');
    await page.getByRole('button', { name: 'Create the mount' }).click();
    await page.getByRole('heading', { name: 'team/shop/' }).waitFor();
    await page.getByLabel('Name in team/shop/').fill('db');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('It does not exist yet.').waitFor();
    await page.getByLabel('Key 1', { exact: true }).fill('password');
    await page.getByLabel('Value 1', { exact: true }).fill(canary);
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 1 was written.').waitFor();
    expect((await console.api('GET', 'team/shop/data/db')).body.data.data).toEqual({ password: canary });
  });

  test('values are hidden, and shown one at a time', async () => {
    await console.api('POST', 'kv/data/hidden', { data: { a: `${canary}-a`, b: `${canary}-b` } });
    const page = await console.open(addressOf('hidden'));
    await page.getByRole('button', { name: 'Show a, version 1' }).waitFor();
    expect(await page.content()).not.toContain(canary);
    await page.getByRole('button', { name: 'Show a, version 1' }).click();
    await page.getByText(`${canary}-a`).waitFor();
    await page.getByRole('button', { name: 'Show b, version 1' }).click();
    await page.getByText(`${canary}-b`).waitFor();
    expect(await page.content()).not.toContain(`${canary}-a`);
    await page.getByRole('button', { name: 'Hide b, version 1' }).click();
    expect(await page.content()).not.toContain(canary);
  });

  test('versions are compared side by side, without showing values', async () => {
    await console.api('POST', 'kv/data/compared', { data: { same: 'x', changed: `${canary}-1`, gone: 'y' } });
    await console.api('POST', 'kv/data/compared', { data: { same: 'x', changed: `${canary}-2`, new: 'z' } });
    const page = await console.open(addressOf('compared'));
    await page.getByRole('button', { name: 'Compare, without showing values' }).click();
    for (const [key, difference] of Object.entries({
      same: 'same',
      changed: 'changed',
      gone: 'removed',
      new: 'added',
    }))
      await page
        .getByRole('row', { name: new RegExp(`^${key} `) })
        .getByRole('cell', { name: difference, exact: true })
        .waitFor();
    expect(await page.content()).not.toContain(canary);
  });

  test('a write based on an older version is refused, and keeps what was typed', async () => {
    await console.api('POST', 'kv/data/raced', { data: { a: '1' } });
    const page = await console.open(addressOf('raced'));
    await page.getByLabel('Key 1', { exact: true }).fill('a');
    await page.getByLabel('Value 1', { exact: true }).fill('mine');
    await console.api('POST', 'kv/data/raced', { data: { a: 'theirs' } });
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Nothing was written.').waitFor();
    expect(await page.getByLabel('Key 1', { exact: true }).inputValue()).toBe('a');
    expect(await versionOf('raced')).toBe(2);
  });

  test('JSON keeps the digits of its numbers, and one key is changed without reading the others', async () => {
    const page = await console.open(addressOf('json'));
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    await replaceText(
      page.getByRole('textbox', { name: 'Data as JSON' }),
      '{"n": 12345678901234567890, "o": {"a": [1]}}',
    );
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 1 was written.').waitFor();
    await page.getByLabel('Key 1', { exact: true }).fill('added');
    await page.getByLabel('Value 1', { exact: true }).fill('x');
    await page.getByText('Keep the other keys').click();
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 2 was written.').waitFor();
    await page.getByRole('button', { name: 'Show n, version 2' }).click();
    await page.getByText('12345678901234567890', { exact: true }).waitFor();
    expect((await console.api('GET', 'kv/data/json')).body.data.data).toMatchObject({
      o: { a: [1] },
      added: 'x',
    });
  });

  test('deleting, undeleting and destroying say what and how much, and where it is synced', async () => {
    const at = await SyncFixture.create(console);
    for (const value of ['1', '2']) expectStatus(await at.write('s', { a: value }), 200);
    await at.sync('s', { a: '3' });
    const page = await console.open(`/secrets/secret?mount=${at.mount}&name=s`);
    await page
      .getByRole('row', { name: new RegExp(at.destination) })
      .getByText('SYNCED')
      .waitFor();
    const dialog = page.getByRole('alertdialog');
    for (const version of [1, 2]) await page.getByText(`Version ${version}`, { exact: true }).first().click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByText(/Versions 1, 2 can no longer be read.*1 destination follows/).waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('cell', { name: 'deleted' }).nth(1).waitFor();

    await page.getByText('Version 1', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Undelete' }).click();
    await dialog.getByRole('button', { name: 'Undelete' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await console.api('GET', `${at.mount}/data/s?version=1`)).body.data.data).toEqual({ a: '1' });

    await page.getByText('Version 2', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Destroy' }).click();
    await dialog.getByText(/Version 2: the values are erased for good\. This cannot be undone/).waitFor();
    await dialog.getByRole('button', { name: 'Destroy' }).click();
    await page.getByRole('cell', { name: 'destroyed' }).waitFor();

    await page.getByRole('button', { name: 'Delete the secret for good' }).click();
    await dialog.getByText('All 3 versions are erased').waitFor();
    await dialog.getByText(`cloudA-sm/${at.destination}`).waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nothing here yet.').waitFor();
    await at.untilValue('s', undefined);
  });
});
