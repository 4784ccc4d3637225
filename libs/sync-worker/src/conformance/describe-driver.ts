import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { DriverUnderTest } from './driver-harness.ts';
import { checkSequences } from './driver-sequences.ts';
import { canary, DriverSuite } from './driver-suite.ts';
import { answerTests, redirectTests } from './rules/answer-tests.ts';
import { faultTests, lostOutcomeTests } from './rules/fault-tests.ts';
import { listTests, lookTests } from './rules/look-tests.ts';
import { outsideTests } from './rules/outside-tests.ts';
import {
  leftBehindTests,
  markTests,
  ownershipTests,
  releaseTests,
  tagTests,
} from './rules/ownership-tests.ts';
import { repairTests } from './rules/repair-tests.ts';
import { staleTests } from './rules/stale-tests.ts';
import { startTests } from './rules/start-tests.ts';
import { sizeTests, valueTests } from './rules/value-tests.ts';

/** Tests the contract that every driver satisfies, over the wire against the simulated destination. */
export function describeDriver(subject: DriverUnderTest): void {
  describe(`driver ${subject.name}`, () => {
    const suite = new DriverSuite(subject);
    beforeAll(() => suite.start());
    afterEach(() => suite.harness.clear());
    afterAll(() => suite.stop());

    faultTests(suite);
    redirectTests(suite);
    lostOutcomeTests(suite);
    valueTests(suite);
    sizeTests(suite);
    ownershipTests(suite);
    releaseTests(suite);
    if (subject.changesOutside) {
      outsideTests(suite);
      repairTests(suite);
    }
    staleTests(suite);
    if (subject.showsOwner ?? subject.supportsTags) {
      markTests(suite);
      leftBehindTests(suite);
    }
    if (subject.supportsTags) tagTests(suite);
    if (subject.recordsStart) startTests(suite);

    describeInOwnStore('answers of one operation', subject, answerTests);
    describeInOwnStore('its looks', subject, (looks) => {
      lookTests(looks);
      listTests(looks);

      test('reveal no value in what they return, throw or log', () => {
        expect(inspect(looks.observed, { depth: 12, showHidden: true })).not.toContain(canary);
        expect(looks.harness.outputs()).not.toContain(canary);
      });
    });

    test('any sequence of intents and failures ends with the last intent', () =>
      checkSequences(suite.harness, suite.connected));

    test('closing twice succeeds', () => suite.connectedAs({}, (other) => other.close()));

    test('no value appears in what the driver returns, throws or logs', async () => {
      await suite.putNew();
      expect(inspect(suite.observed, { depth: 12, showHidden: true })).not.toContain(canary);
      expect(suite.harness.outputs()).not.toContain(canary);
    });
  });
}

/** Some stores take 100 secrets only. */
function describeInOwnStore(
  title: string,
  subject: DriverUnderTest,
  tests: (suite: DriverSuite) => void,
): void {
  describe(title, () => {
    const suite = new DriverSuite(subject);
    beforeAll(() => suite.start());
    afterEach(() => suite.harness.clear());
    afterAll(() => suite.stop());
    tests(suite);
  });
}
