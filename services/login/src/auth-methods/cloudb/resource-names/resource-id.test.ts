import { describe, expect, test } from '@jest/globals';
import { flexibleSetName, isSameResource, parseResourceId } from './resource-id.ts';
import { isSameName } from './same-name.ts';

const group = '/subscriptions/s/resourceGroups/rg';
const site = `${group}/providers/Microsoft.Web/sites/app`;

describe('a resource ID', () => {
  test('is parsed into its segments', () => {
    expect(parseResourceId(`${site}/slots/stage`)).toEqual({
      subscriptionId: 's',
      resourceGroup: 'rg',
      type: 'Microsoft.Web/sites/slots',
      names: ['app', 'stage'],
    });
  });

  test('is the same in another case', () => {
    const [one, other] = [site, site.toUpperCase()].map((id) => parseResourceId(id)!);
    expect(isSameResource(one!, other!)).toBe(true);
  });

  test.each([
    '',
    '/',
    group,
    `${group}/providers/Microsoft.Web`,
    `${group}/providers/Microsoft.Web/sites`,
    `${site}/`,
    `${site}/slots`,
    `${site}//`,
    site.slice(1),
    ` ${site}`,
    `${site}\n`,
    `${site}%2fx`,
    `${site}?x`,
    `${site}#x`,
    site.replace('app', '..'),
    site.replace('rg', '.'),
    site.replace('/', '\\'),
    site.replace('subscriptions', 'subscription'),
    site.replace('providers', 'provider'),
    `https://x${site}`,
    `${group}/providers/Microsoft.Web${'/sites/app'.repeat(9)}`,
    `${site}${'a'.repeat(2_048)}`,
    '/'.repeat(4_000),
  ])('is not %j', (text) => {
    expect(parseResourceId(text)).toBeUndefined();
  });

  test.each([
    ['a prefix', `${site}1`],
    ['a part', `${site}/slots/stage`],
    ['another group', site.replace('rg', 'rg-prod')],
    ['another subscription', site.replace('/s/', '/s2/')],
    ['another type', site.replace('sites', 'site')],
    ['another provider', site.replace('Microsoft', 'Evil')],
  ])('is not that of %s', (_what, text) => {
    expect(isSameResource(parseResourceId(site)!, parseResourceId(text)!)).toBe(false);
  });
});

test.each([
  ['web_a1b2c3d4', 'web'],
  ['web_1_a1b2c3d4', 'web_1'],
  ['web', undefined],
  ['web_', undefined],
  ['_a1', undefined],
  ['web_a-b', undefined],
])('a machine called %s would be an instance of the flexible set %s', (machine, set) => {
  expect(flexibleSetName(machine)).toBe(set);
});

test.each([
  ['Web-1', 'wEB-1', true],
  ['GRÖSSE', 'größe', false],
  ['GRÖßE', 'größe', true],
  ['\u212aube', 'kube', false], // Kelvin sign
  ['\u017ftage', 'stage', false], // long s
  ['\u0130x', 'ix', false], // I with a dot
  ['\u2126', '\u03c9', false], // Ohm sign
  ['rg', 'rg-prod', false],
])('%s and %s are the same name: %s', (one, other, same) => {
  expect(isSameName(one, other)).toBe(same);
});
