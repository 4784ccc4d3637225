import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { accessibilityFaults } from '../browser/accessibility.ts';
import { describeInBrowser } from '../browser/describe-in-browser.ts';
import { picture } from '../browser/picture.ts';
import { type ConsoleForTest, startConsole } from '../console-for-test.ts';

describeInBrowser('rules', () => {
  let console: ConsoleForTest;
  let fixture: SyncFixture;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console?.stop());
  beforeEach(async () => {
    fixture = await SyncFixture.create(console);
    for (const name of ['shop/db', 'shop/mail', 'bank/db'])
      expectStatus(await fixture.write(name, { key: name }), 200);
  });
  afterEach(() => console.closePages());

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const addressOf = (...more: string[]) =>
    ['/destinations/cloudA-sm', fixture.destination, ...more].join('/');
  const rulePath = (rule: string) => `${fixture.path}/rules/${rule}`;
  const readRule = async (rule: string) =>
    expectStatus(await console.api('GET', rulePath(rule)), 200).body.data;

  /** Writes a rule by the API, and waits until it is up to date. */
  async function writeRule(rule: string, fields: object): Promise<void> {
    expectStatus(await console.api('POST', rulePath(rule), { mount: fixture.mount, ...fields }), 200);
    await upToDate(rule);
  }

  const upToDate = (rule: string) =>
    eventually(
      () => readRule(rule),
      ({ state }) => state === 'up_to_date',
    );

  /** A token that may do this below the destination. */
  async function tokenWith(capabilities: Record<string, readonly string[]>): Promise<string> {
    const policy = Object.entries(capabilities)
      .map(([path, of]) => `path "${fixture.path}${path}" { capabilities = ${JSON.stringify(of)} }`)
      .join('\n');
    expectStatus(await console.api('POST', `sys/policies/acl/${fixture.destination}`, { policy }), 204);
    const body = { policies: [fixture.destination, 'default'] };
    return (await console.api('POST', 'auth/token/create', body)).body.auth.client_token;
  }

  test('a rule is planned, saved, and associates what it matches', async () => {
    const page = await console.open(addressOf());
    await page.getByRole('link', { name: 'Rules', exact: true }).click();
    await page.getByText('This destination has no rules.').waitFor();
    await page.getByRole('link', { name: 'New rule' }).click();
    await page.getByLabel('Name (required)').fill('shop');
    await page.getByLabel('Mount', { exact: true }).selectOption(fixture.mount);
    await page.getByLabel('Path (required)').fill('shop/*');
    await press(page, 'Show the plan');
    await page.getByText('2 secrets matched: 2 would be associated.').waitFor();
    await page.getByRole('cell', { name: fixture.externalName('shop/mail') }).waitFor();
    expectStatus(await console.api('GET', rulePath('shop')), 404);
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, 'rule-plan', page.getByRole('main'));

    await page.getByLabel('Excluded paths').fill('shop/mail');
    await press(page, 'Show the plan');
    await page.getByText('1 secret matched: 1 would be associated.').waitFor();
    await press(page, 'Save the rule');
    await page.getByRole('heading', { name: 'shop', level: 1, exact: true }).waitFor();
    await page.getByText('1 secret matched, 1 associated, 0 refused.').waitFor();
    await fixture.untilStatus('shop/db', 'SYNCED');

    await page.getByRole('link', { name: 'All rules of the destination' }).click();
    await page.getByRole('row', { name: /^shop .*up_to_date 1 1 0$/ }).waitFor();
  });

  test('a narrower rule shows what it releases, and is saved with the confirmation of its plan', async () => {
    await writeRule('all', { path: '*', metadata_match: {} });
    await fixture.untilStatus('bank/db', 'SYNCED');
    const page = await console.open(addressOf('rules', 'all'));
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Path (required)').fill('shop/*');
    await press(page, 'Show the plan');
    await page.getByText('1 association would end').waitFor();
    await page.getByText('The associations that end').click();
    await page.getByText(`${fixture.mount}/bank/db`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await press(page, 'Save the rule');
    await page.getByText('2 secrets matched, 2 associated, 0 refused.').waitFor();
    expect(await readRule('all')).toMatchObject({ path: 'shop/*' });
    await fixture.untilValue('bank/db', undefined);
  });

  test('metadata and excluded paths are shown when a rule is edited, and what is removed is gone', async () => {
    await writeRule('team', { path: '*', exclude: ['bank/*'], metadata_match: { sync: 'prod', team: 'a' } });
    const page = await console.open(addressOf('rules', 'team', 'edit'));
    expect(await page.getByLabel('Excluded paths').inputValue()).toBe('bank/*');
    await page.getByText('Whoever may write the metadata of a secret within the path').waitFor();
    expect(await page.getByLabel('Value 2', { exact: true }).inputValue()).toBe('a');
    await press(page, 'Remove key 2');
    await press(page, 'Show the plan');
    await press(page, 'Save the rule');
    await page.getByText('Metadata sync').waitFor();
    expect(await readRule('team')).toMatchObject({ metadata_match: { sync: 'prod' }, exclude: ['bank/*'] });
  });

  test('what the service refuses is explained at its field, and input is not lost without a question', async () => {
    const page = await console.open(addressOf('new-rule'));
    await page.getByLabel('Name (required)').fill('wrong');
    await page.getByLabel('Mount', { exact: true }).selectOption(fixture.mount);
    await page.getByLabel('Path (required)').fill('a*b');
    await press(page, 'Show the plan');
    await page.locator('.field-error', { hasText: '*' }).waitFor();
    page.once('dialog', (dialog) => dialog.dismiss());
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    expect(await page.getByLabel('Path (required)').inputValue()).toBe('a*b');
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('a secret that cannot be associated is listed with the reason', async () => {
    expectStatus(await fixture.write('shop/old', { key: 'old' }), 200);
    expectStatus(await console.api('DELETE', `${fixture.mount}/data/shop/old`), 204);
    await writeRule('shop', { path: 'shop/*' });
    const page = await console.open(addressOf('rules', 'shop'));
    await page.getByText('3 secrets matched, 2 associated, 1 refused.').waitFor();
    await page.getByRole('row', { name: new RegExp(`${fixture.mount}/shop/old .*is deleted`) }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('a deletion says what it releases, and keeps it on request', async () => {
    await writeRule('all', { path: '*' });
    await writeRule('shop', { path: 'shop/*' });
    const page = await console.open(addressOf('rules', 'shop'));
    await press(page, 'Delete');
    await page.getByText('No association ends: others hold what the rule has associated.').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('This rule does not exist.').waitFor();

    const all = await console.open(addressOf('rules', 'all'));
    await press(all, 'Delete');
    await all.getByText('3 associations end, and the external secrets are deleted').waitFor();
    await all.getByText('Keep its associations.').click();
    await all.getByText('3 associations of the rule stay.').waitFor();
    expect(await accessibilityFaults(all)).toEqual([]);
    await all.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await all.getByText('This rule does not exist.').waitFor();
    await fixture.untilStatus('bank/db', 'SYNCED');
  });

  test('an association shows what holds it', async () => {
    await fixture.sync('shop/db', { key: 'by hand' });
    await writeRule('team-a', { path: 'shop/*' });
    const secret = encodeURIComponent('shop/db');
    const page = await console.open(`/associations/secret?mount=${fixture.mount}&secret=${secret}`);
    const row = page.getByRole('row', { name: new RegExp(fixture.destination) });
    await row.getByText('set by hand').waitFor();
    await row.getByText('rule team-a').waitFor();
    await row.getByRole('link', { name: 'team-a' }).click();
    await page.getByRole('heading', { name: 'team-a', level: 1 }).waitFor();
  });

  test('a token is offered what it may do with rules, and what it lacks has the name of the capability', async () => {
    await writeRule('shop', { path: 'shop/*' });
    const none = await console.open(addressOf('rules'), { token: await tokenWith({ '': ['read'] }) });
    await none.getByText(`This needs the capability list on ${fixture.path}/rules.`).waitFor();
    const reader = await console.open(addressOf('rules'), {
      token: await tokenWith({ '/rules': ['list'], '/rules/*': ['read'] }),
    });
    await reader.getByRole('link', { name: 'shop', exact: true }).click();
    await reader.getByText('2 secrets matched').waitFor();
    for (const name of ['Edit', 'Delete', 'New rule'])
      expect(await reader.getByText(name, { exact: true }).count()).toBe(0);
    const writer = await console.open(addressOf('new-rule'), {
      token: await tokenWith({ '/rules/mine': ['create'] }),
    });
    await writer.getByLabel('Name (required)').fill('other');
    await writer.getByText(`This needs the capability create on ${rulePath('other')}.`).waitFor();
    await writer.getByLabel('Name (required)').fill('mine');
    await writer.getByText(`This needs the capability update on ${rulePath('mine')}/plan.`).waitFor();
    await writer.getByRole('button', { name: 'Save the rule' }).waitFor();
    expect(await writer.getByLabel('Owner', { exact: true }).count()).toBe(0);
  });

  test('a list that cannot be read says so, and is read again on request', async () => {
    await writeRule('shop', { path: 'shop/*' });
    const page = await console.open('/');
    const { promise: end, resolve: letFail } = Promise.withResolvers<void>();
    await page.route(/\/rules\?/, async (route) => {
      await end;
      await route.fulfill({ status: 503, json: { errors: ['the service is starting'] } });
    });
    await page.evaluate(`history.pushState(null, '', '/ui${addressOf('rules')}')`);
    await page.getByText('Reading the rules…').waitFor();
    letFail();
    await page.getByText('the service is starting').waitFor({ timeout: 60_000 });
    await page.unroute(/\/rules\?/);
    await press(page, 'Try again');
    await page.getByRole('link', { name: 'shop', exact: true }).waitFor();
  });

  test('a rule is written with the keyboard alone', async () => {
    const page = await console.open(addressOf('new-rule'));
    await page.getByLabel('Name (required)').focus();
    await page.keyboard.type('keys');
    await page.keyboard.press('Tab');
    await page.keyboard.type(fixture.mount);
    await page.keyboard.press('Tab');
    await page.keyboard.type('bank/*');
    await page.keyboard.press('Enter');
    await page.getByText('1 secret matched: 1 would be associated.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'keys', level: 1 }).waitFor();
    expect(await readRule('keys')).toMatchObject({ mount: fixture.mount, path: 'bank/*' });
  });
});
