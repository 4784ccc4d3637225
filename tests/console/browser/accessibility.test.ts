import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { isLongRun } from '../../harness/run-size.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { type ConsoleForTest, startConsole } from '../console-for-test.ts';
import { accessibilityFaults } from './accessibility.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { picture, takesPictures } from './picture.ts';

/** An address below `/ui`, what it shows once it is complete, and the name of its picture in docs/console.md. */
type Address = [path: string, shows: string, pictured?: string];

const addresses: Address[] = [
  ['/', 'External secrets'],
  ['/secrets', 'New mount'],
  ['/secrets?mount=kv', 'shop/', 'secrets'],
  ['/secrets/secret?mount=kv&name=shop%2Fdb', 'Show a, version 1'],
  ['/destinations', 'New destination'],
  ['/destinations/new', 'secret_name_template'],
  ['/associations', 'Show its destinations'],
  ['/access', 'New auth mount', 'auth-mounts'],
  ['/access/auth?mount=cloudB', 'Why is a login refused?'],
  ['/access/auth/role?mount=cloudB&role=web', 'Save the role', 'role'],
  ['/access/policies', 'What may a token do?'],
  ['/access/policies/policy?name=default', 'Save'],
  ['/access/tokens', 'Accessors in this namespace', 'tokens'],
  ['/access/namespaces', 'New namespace', 'namespaces'],
  ['/api', 'Read a mount', 'api'],
  ['/api/operation?method=POST&path=%2Fv1%2Fsys%2Fmounts%2F%7Bpath%7D', 'Send POST'],
  ['/nowhere', 'No such page'],
];

/** The pages of a destination and its association. */
function ofDestination({ destination, mount }: SyncFixture): Address[] {
  const path = `/destinations/cloudA-sm/${destination}`;
  return [
    [path, `${mount}/s`, 'destination'],
    [`${path}/edit`, 'secret_name_template'],
    [`${path}/replan`, 'A replan applies the current'],
    [`${path}/history?mount=${mount}&secret=s`, 'the last 20 outcomes', 'history'],
    [`${path}/rules`, 'up_to_date', 'rules'],
    [`${path}/new-rule`, 'Show the plan'],
    [`${path}/rules/shop`, 'is deleted', 'rule'],
    [`${path}/rules/shop/edit`, 'Show the plan'],
    [`/associations/secret?mount=${mount}&secret=s`, 'SYNCED'],
  ];
}

/** Writes a rule that associates one secret and refuses another one, and waits until it is up to date. */
async function writeRule({ api }: Pick<ConsoleForTest, 'api'>, fixture: SyncFixture): Promise<void> {
  for (const name of ['shop/db', 'shop/old']) expectStatus(await fixture.write(name, { a: 'x' }), 200);
  expectStatus(await api('DELETE', `${fixture.mount}/data/shop/old`), 204);
  const rule = { mount: fixture.mount, path: 'shop/*', exclude: ['shop/tmp*'] };
  const path = `${fixture.path}/rules/shop`;
  expectStatus(await api('POST', path, rule), 200);
  await eventually(
    async () => expectStatus(await api('GET', path), 200).body.data.state,
    (state) => state === 'up_to_date',
  );
}

/** A color scheme and a width. Short runs have only the first; to take pictures, also the second, for the pages with one. */
const looks = [
  ['dark', 320],
  ['light', 1280],
  ['dark', 1280],
  ['light', 320],
] as const;

describeInBrowser('every page', () => {
  let console: ConsoleForTest;
  let pages: Address[];

  beforeAll(async () => {
    console = await startConsole();
    expectStatus(await console.api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
    expectStatus(await console.api('POST', 'sys/auth/cloudB', { type: 'cloudB' }), 204);
    await console.api('POST', 'kv/data/shop/db', { data: { a: 'x', b: 'y' } });
    const fixture = await SyncFixture.create(console);
    await fixture.sync('s', { a: 'x' });
    await writeRule(console, fixture);
    pages = [...addresses, ...ofDestination(fixture)];
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  test.each(isLongRun ? looks : looks.slice(0, takesPictures ? 2 : 1))(
    'is accessible and fits the window: %s, %i px',
    async (colorScheme, width) => {
      const page = await console.open('/', { colorScheme, viewport: { width, height: 800 } });
      const found: string[] = [];
      for (const [path, shows, pictured] of pages) {
        if (width === 1280 && pictured === undefined && !isLongRun) continue;
        await page.evaluate(`history.pushState(null, '', '/ui${path}')`);
        const anything = page.getByText(shows).or(page.getByRole('button', { name: shows }));
        await page.getByRole('heading', { level: 1 }).waitFor();
        await anything.first().waitFor();
        found.push(...(await accessibilityFaults(page)).map((fault) => `${path}: ${fault}`));
        const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
        if (pictured !== undefined && colorScheme === 'light' && width === 1280)
          await picture(page, pictured);
        if (overflow !== 0) found.push(`${path}: is ${overflow} px wider than the window`);
      }
      expect(found).toEqual([]);
    },
  );

  test('the sign-in page is accessible', async () => {
    const page = await console.open('/');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
