import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventuallyEqual } from '../harness/eventually.ts';
import { expectStatus } from '../harness/http.ts';
import { SyncFixture } from '../harness/sync-fixture.ts';
import { accessibilityFaults } from './browser/accessibility.ts';
import { describeInBrowser } from './browser/describe-in-browser.ts';
import { replaceText } from './browser/replace-text.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';

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
  /** Writes the next version, after its changes were shown. */
  async function review(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Review and write' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Write' }).click();
  }
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

  test('one key is edited, and destinations keep the others', async () => {
    const at = await SyncFixture.create(console);
    await at.sync('s', { a: '1', b: 'line 1\nline 2', c: 12 });
    const page = await console.open(`/secrets/secret?mount=${at.mount}&name=s`);
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByLabel('Value 1', { exact: true }).fill('new');
    await review(page);
    await page.getByText('Version 2 was written.').waitFor();
    const stored = async () => JSON.parse((await at.value('s')) ?? '{}');
    await eventuallyEqual(stored, { a: 'new', b: 'line 1\nline 2', c: 12 });
  });

  test('keys that a write removes are named, with the destinations that lose them', async () => {
    const at = await SyncFixture.create(console, { granularity: 'secret-key' });
    await console.api('POST', `${at.mount}/data/s`, { data: { a: '1', b: '2', c: '3' } });
    expectStatus(await at.setAndWait('s'), 200);
    const page = await console.open(`/secrets/secret?mount=${at.mount}&name=s`);
    const [dialog, write] = [
      page.getByRole('alertdialog'),
      page.getByRole('button', { name: 'Review and write' }),
    ];
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByLabel('Value 1', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove key 2' }).click();
    await write.click();
    await dialog.getByText('Remove 1 key of s?').waitFor();
    await dialog.getByText('b', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByText(`cloudA-sm/${at.destination}`).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    await replaceText(page.getByRole('textbox', { name: 'Data as JSON' }), '{"c": "4", "d": null}');
    await write.click();
    await dialog.getByText('Remove 2 keys of s?').waitFor();
    expect((await console.api('GET', `${at.mount}/data/s`)).body.data.metadata.version).toBe(1);
    await dialog.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 2 was written.').waitFor();
    expect((await console.api('GET', `${at.mount}/data/s`)).body.data.data).toEqual({ c: '4', d: null });
    const stored = async () =>
      Object.keys(await console.sandbox.secrets()).filter((name) => name.includes(at.accessor));
    await eventuallyEqual(async () => (await stored()).length, 2);
  });

  test('before a version is written, its changes are shown without values, and the destinations that receive it', async () => {
    const at = await SyncFixture.create(console);
    await at.sync('s', { a: `${canary}-1`, b: '2', c: '3' });
    const page = await console.open(`/secrets/secret?mount=${at.mount}&name=s`);
    const region = page.getByRole('region', { name: 'New version' });
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByRole('button', { name: 'Show value 1' }).click();
    expect(await page.getByLabel('Value 1', { exact: true }).getAttribute('type')).toBe('text');
    await page.getByLabel('Value 1', { exact: true }).fill(`${canary}-2`);
    await page.getByRole('button', { name: 'Hide value 1' }).click();
    await region.getByRole('button', { name: 'Add a key' }).click();
    await page.getByLabel('Key 4', { exact: true }).fill('d');
    await page.getByLabel('Value 4', { exact: true }).fill(`${canary}-4`);
    await page.getByRole('button', { name: 'Review and write' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Write a new version of s?' });
    const changes = dialog.getByRole('region', { name: 'Changes' });
    await changes.getByText('2 keys unchanged.').waitFor();
    expect(await changes.textContent()).toMatch(/1 key added:d1 key changed:a2 keys/);
    await dialog.getByText('1 destination receives the new version:').waitFor();
    await dialog.getByText(`cloudA-sm/${at.destination}`).waitFor();
    expect(await dialog.textContent()).not.toContain(canary);
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 2 was written.').waitFor();
    const written = { a: `${canary}-2`, b: '2', c: '3', d: `${canary}-4` };
    expect((await console.api('GET', `${at.mount}/data/s`)).body.data.data).toEqual(written);
  });

  test('a write based on an older version is refused, and its changes are applied to the newest one', async () => {
    await console.api('POST', 'kv/data/raced', { data: { a: '1', b: '1', c: '1' } });
    const page = await console.open(addressOf('raced'));
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByLabel('Value 1', { exact: true }).fill('mine');
    await console.api('POST', 'kv/data/raced', { data: { a: 'theirs', b: 'theirs', c: '1', d: 'theirs' } });
    await review(page);
    await page.getByText('Nothing was written.').waitFor();
    expect(await page.getByLabel('Value 1', { exact: true }).inputValue()).toBe('mine');
    expect(await versionOf('raced')).toBe(2);
    await page.getByRole('button', { name: 'Apply my changes to the newest version' }).click();
    await page.getByText('It has changed a, too: your values are kept.').waitFor();
    await review(page);
    await page.getByText('Version 3 was written.').waitFor();
    expect((await console.api('GET', 'kv/data/raced')).body.data.data).toEqual({
      ...{ a: 'mine', b: 'theirs', c: '1', d: 'theirs' },
    });
  });

  test('a token that may only patch keeps the other keys, and is told that destinations cannot be shown', async () => {
    await console.api('POST', 'kv/data/patched', { data: { a: '1', b: '1', c: '1' } });
    const policy = 'path "kv/data/patched" { capabilities = ["update", "patch"] }';
    expectStatus(await console.api('POST', 'sys/policies/acl/patches', { policy }), 204);
    const created = await console.api('POST', 'auth/token/create', { policies: ['patches'] });
    const page = await console.open(addressOf('patched'), { token: created.body.auth.client_token });
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByLabel('Key 1', { exact: true }).fill('a');
    await page.getByLabel('Value 1', { exact: true }).fill('2');
    await review(page);
    await page.getByText('Version 2 was written.').waitFor();
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    await replaceText(page.getByRole('textbox', { name: 'Data as JSON' }), '{"b": null}');
    await page.getByRole('button', { name: 'Review and write' }).click();
    await page
      .getByRole('alertdialog')
      .getByText(/cannot be shown: this token may not/)
      .waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 3 was written.').waitFor();
    expect((await console.api('GET', 'kv/data/patched')).body.data.data).toEqual({ a: '2', c: '1' });
  });

  test('what was entered is not lost by leaving the page without a question', async () => {
    const page = await console.open(addressOf('unsaved'));
    await page.getByLabel('Key 1', { exact: true }).fill('a');
    const leave = page.getByRole('navigation').getByRole('link', { name: 'Destinations', exact: true });
    page.once('dialog', (question) => question.dismiss());
    await leave.click();
    expect(await page.getByLabel('Key 1', { exact: true }).inputValue()).toBe('a');
    page.once('dialog', (question) => question.accept());
    await leave.click();
    await page.getByRole('heading', { name: 'Destinations', level: 1 }).waitFor();
  });

  test('numbers keep their digits, as JSON and in a field', async () => {
    const page = await console.open(addressOf('json'));
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    await replaceText(
      page.getByRole('textbox', { name: 'Data as JSON' }),
      '{"n": 12345678901234567890, "o": {"a": [1]}}',
    );
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 1 was written.').waitFor();
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page
      .getByRole('region', { name: 'New version' })
      .getByRole('button', { name: 'Add a key' })
      .click();
    await page.getByLabel('Key 3', { exact: true }).fill('added');
    await page.getByLabel('Value 3', { exact: true }).fill('x');
    await review(page);
    await page.getByText('Version 2 was written.').waitFor();
    await page.getByRole('button', { name: 'Show n, version 2' }).click();
    await page.getByText('12345678901234567890', { exact: true }).waitFor();
    expect((await console.api('GET', 'kv/data/json')).body.data.data).toMatchObject({
      o: { a: [1] },
      added: 'x',
    });
  });

  test('the next version can be begun while the page still reads the one that was written', async () => {
    const page = await console.open(addressOf('next'));
    await page.getByLabel('Key 1', { exact: true }).fill('a');
    await page.getByLabel('Value 1', { exact: true }).fill('1');
    await page.route('**/metadata/next', () => {}, { times: 1 }); // the page's request is not answered
    await page.getByRole('button', { name: 'Write', exact: true }).click();
    await page.getByText('Version 1 was written.').waitFor();
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
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
    await dialog.getByText('1 destination loses its external secrets:').waitFor();
    await dialog.getByText(`cloudA-sm/${at.destination}`).waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Nothing here yet.').waitFor();
    await at.untilValue('s', undefined);
  });
});
