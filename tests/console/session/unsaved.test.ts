import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectStatus } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { describeInBrowser } from '../browser/describe-in-browser.ts';
import { replaceText } from '../browser/replace-text.ts';
import { type ConsoleForTest, startConsole } from '../console-for-test.ts';

const entered = 'entered';

/** Whether the browser would close the page without a question. */
const isClosedSilently = `dispatchEvent(new Event('beforeunload', { cancelable: true }))`;

/** Returns the texts of the fields and editors of the page; editors are in shadow roots. */
const inputs = `[...document.querySelectorAll('*')]
  .flatMap((one) => [one, ...(one.shadowRoot?.querySelectorAll('*') ?? [])])
  .filter((one) => one.matches('input, [role=textbox]'))
  .map((one) => one.value || one.textContent)`;

describeInBrowser('input that is not saved', () => {
  let console: ConsoleForTest;
  let destination: SyncFixture;

  beforeAll(async () => {
    console = await startConsole();
    expectStatus(await console.api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
    expectStatus(await console.api('POST', 'sys/auth/cloudB', { type: 'cloudB' }), 204);
    await console.api('POST', 'kv/data/shop/db', { data: { a: 'x' } });
    destination = await SyncFixture.create(console);
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  const ofDestination = () => `/destinations/cloudA-sm/${destination.destination}`;
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
  const leave = (page: Page) =>
    page.getByRole('navigation').getByRole('link', { name: 'API', exact: true }).click();

  /** Answers the next question, and returns its text. */
  function answer(page: Page, agrees: boolean): Promise<string> {
    return new Promise((resolve) =>
      page.once('dialog', async (question) => {
        await (agrees ? question.accept() : question.dismiss());
        resolve(question.message());
      }),
    );
  }

  /** Each form: its address, and how to enter something. */
  const forms: [name: string, address: () => string, enter: (page: Page) => Promise<unknown>][] = [
    ['a new destination', () => '/destinations/new', (page) => field(page, 'region').fill(entered)],
    [
      'the name of a new destination',
      () => '/destinations/new',
      (page) => page.getByRole('textbox', { name: 'Name (required)' }).fill(entered),
    ],
    [
      'the settings of a destination',
      () => `${ofDestination()}/edit`,
      (page) => field(page, 'kms_key_id').fill(entered),
    ],
    [
      'a policy',
      () => '/access/policies/policy?name=default',
      (page) => replaceText(page.getByRole('textbox', { name: 'Text of default' }), entered),
    ],
    [
      'a role',
      () => '/access/auth/role?mount=cloudB&role=web',
      (page) => replaceText(page.getByRole('textbox', { name: 'Fields of the role' }), entered),
    ],
    [
      'the metadata of a secret',
      () => '/secrets/secret?mount=kv&name=shop%2Fdb',
      (page) => field(page, 'Versions to keep').fill(entered),
    ],
    ['a secret', () => '/secrets/secret?mount=kv&name=new', (page) => field(page, 'Value 1').fill(entered)],
  ];

  test.each(forms)(
    '%s is kept unless the user agrees, whichever way the page is left',
    async (_, of, enter) => {
      const page = await console.open('/access/tokens');
      await page.evaluate(`history.pushState(null, '', '/ui${of()}')`);
      await enter(page);
      const here = page.url();
      for (const attempt of [
        () => leave(page),
        () => page.goBack(),
        () => page.getByRole('button', { name: 'Sign out' }).click(),
      ]) {
        const question = answer(page, false);
        await attempt();
        expect(await question).toContain('What you have entered is not saved.');
        await page.waitForURL(here);
        expect(await page.evaluate(inputs)).toContain(entered);
      }
      expect(await page.evaluate(isClosedSilently)).toBe(false);
      const agreed = answer(page, true);
      await leave(page);
      await agreed;
      await page.getByRole('heading', { name: 'API', level: 1 }).waitFor();
    },
  );

  test('what was saved is not asked about', async () => {
    const page = await console.open('/access/tokens', { colorScheme: 'light' }); // its listener stays with it
    const questions: string[] = [];
    page.on('dialog', async (question) => {
      questions.push(question.message());
      await question.accept();
    });
    await page.evaluate(`history.pushState(null, '', '/ui${ofDestination()}/edit')`);
    await field(page, 'kms_key_id').fill('alias/sandbox');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Inspect now' }).waitFor();
    await page.evaluate(`history.pushState(null, '', '/ui/access/auth/role?mount=cloudB&role=saved')`);
    const role = '{"bound_service_principal_ids": ["11111111-1111-1111-1111-111111111111"]}';
    await replaceText(page.getByRole('textbox', { name: 'Fields of the role' }), role);
    await page.getByRole('button', { name: 'Save the role' }).click();
    await page.getByText('The role was saved.').waitFor();
    await leave(page);
    await page.getByRole('heading', { name: 'API', level: 1 }).waitFor();
    expect(questions).toEqual([]);
  });

  test('the metadata that is being typed stays when a version is written elsewhere', async () => {
    const page = await console.open('/secrets/secret?mount=kv&name=shop%2Fdb');
    await field(page, 'Versions to keep').fill('7');
    await console.api('POST', 'kv/data/shop/db', { data: { a: 'y' } });
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await page.getByRole('button', { name: 'Review and write' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Write' }).click();
    await page.getByText('Version 3 was written.').waitFor();
    await page.getByText('Version 3', { exact: true }).first().waitFor();
    expect(await field(page, 'Versions to keep').inputValue()).toBe('7');
  });

  test('an editor that is closed asks before it discards what was entered', async () => {
    const page = await console.open('/secrets/secret?mount=kv&name=shop%2Fdb');
    await page.getByRole('button', { name: 'Write a new version' }).click();
    await field(page, 'Value 1').fill(entered);
    const question = answer(page, false);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await question).toBe('Discard what you have entered?');
    expect(await field(page, 'Value 1').inputValue()).toBe(entered);
  });
});
