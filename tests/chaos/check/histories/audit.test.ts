import { expect, test } from '@jest/globals';
import { auditedOutcomes, checkAudit } from './audit.ts';
import { operation } from './histories.ts';

const line = (type: string, id: string) =>
  `{"kind":"audit","type":"${type}","request_id":"${id}","status":200}\n`;
const served = operation({ act: 'enable' }, [1, 2], { id: 'a' });

test('a request that succeeded without a line about its outcome is found', () => {
  const audited = new Map([['gateway', auditedOutcomes(line('request', 'a'))]]);
  expect(checkAudit([served], audited)).toHaveLength(1);
});

test('one with such a line, and one that failed, are fine', () => {
  const audited = new Map([
    ['gateway', auditedOutcomes(`${line('request', 'a')}{"kin\n${line('response', 'a')}`)],
  ]);
  expect(checkAudit([served, { ...served, id: 'b', outcome: 'failed' }], audited)).toEqual([]);
});
