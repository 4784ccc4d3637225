import { expect, test } from '@jest/globals';
import { outcomeOf } from './check-outcome.ts';

test.each([
  [['unavailable', 'unavailable'], 'says nothing about the credentials'],
  [['throttled'], 'says nothing about the credentials'],
  [['forbidden', 'unavailable'], 'do not suffice'],
  [['unauthenticated'], 'do not suffice'],
  [['rejected'], 'another reason'],
  [[null], 'another reason'],
])('a check whose steps fail with %j', (faults, sentence) => {
  const steps = faults.map((fault) => ({ step: 'create', result: 'failed', fault }));
  expect(outcomeOf(steps)).toContain(sentence);
});
