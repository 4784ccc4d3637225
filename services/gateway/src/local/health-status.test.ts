import { expect, test } from '@jest/globals';
import type { Health } from './health.ts';
import { statusOfHealth } from './health-status.ts';

const ready: Health = { initialized: true, ready: true, serving: true, missing: [], causes: {} };
const withoutBroker: Health = {
  ...ready,
  ready: false,
  missing: ['sync-control'],
  causes: { 'sync-control': ['broker'] },
};
const withoutSecrets: Health = { ...withoutBroker, serving: false, missing: ['secrets'] };
const withoutTables: Health = { ...withoutSecrets, initialized: false, missing: ['database'] };

test.each([
  ['everything is there', ready, [200, 200]],
  ['only synchronization is missing', withoutBroker, [503, 200]],
  ['no secret can be read', withoutSecrets, [503, 503]],
  ['the tables do not exist', withoutTables, [501, 501]],
])('if %s, the statuses without and with traffic are %s', (_case, health, statuses) => {
  expect([statusOfHealth(health, ''), statusOfHealth(health, '?traffic')]).toEqual(statuses);
  expect(statusOfHealth(health, '?traffic=true')).toBe(statuses[1]);
  expect(statusOfHealth(health, '?traffic=false')).toBe(statuses[0]);
});

test('the statuses of Vault can be replaced, those of standbys without effect', () => {
  const query = '?activecode=299&sealedcode=298&uninitcode=297&standbycode=296&standbyok&perfstandbyok=true';
  expect([ready, withoutBroker, withoutTables].map((health) => statusOfHealth(health, query))).toEqual([
    299, 298, 297,
  ]);
});

test.each(['activecode=abc', 'sealedcode=', 'uninitcode=99', 'standbycode=600', 'traffic=maybe'])(
  '%s is refused',
  (query) => expect(() => statusOfHealth(ready, `?${query}`)).toThrow(query.split('=')[0]!),
);
