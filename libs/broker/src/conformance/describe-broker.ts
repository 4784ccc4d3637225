import { afterAll, beforeAll, beforeEach, describe } from '@jest/globals';
import type { TestBroker } from '../testing.ts';
import type { BrokerUnderTest } from './broker-under-test.ts';
import { describeDeadLetters } from './describe-dead-letters.ts';
import { describeDelivery } from './describe-delivery.ts';
import { describePausing } from './describe-pausing.ts';
import { describeVerdicts } from './describe-verdicts.ts';

/** The conformance suite: tests what every `Broker` promises. Each implementation calls it. */
export function describeBroker(name: string, open: () => Promise<TestBroker>): void {
  describe(`Broker on ${name}`, () => {
    let broker: TestBroker;
    let count = 0;
    const underTest: BrokerUnderTest = {
      get broker() {
        return broker;
      },
      get queue() {
        return `queue-${count}`;
      },
      open,
    };

    beforeAll(async () => {
      broker = await open();
    });
    beforeEach(() => {
      count += 1;
    });
    afterAll(() => broker.close());

    describeDelivery(underTest);
    describeVerdicts(underTest);
    describeDeadLetters(underTest);
    describePausing(underTest);
  });
}
