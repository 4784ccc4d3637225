import { afterAll, beforeAll, describe } from '@jest/globals';
import type { DestinationDescription, Fields } from '@secrets/destinations';
import { DriverSuite } from './driver-suite.ts';
import { pushTests, readTests } from './rules/setting-tests.ts';
import type { Push, SettingsUnderTest } from './settings-under-test.ts';

/** Tests what a driver does with its settings, over the wire against the simulated destination. */
export function describeSettings<Declared extends Fields>(subject: SettingsUnderTest<Declared>): void {
  const description = subject.description as unknown as DestinationDescription;
  describe(`settings of ${description.type}`, () => {
    const suite = new DriverSuite({ ...description, name: description.type, start: subject.start });
    beforeAll(() => suite.start());
    afterAll(() => suite.stop());

    pushTests(suite, subject);
    const pushed = Object.entries<Push>(subject.pushes).map(([name, push]) => ({
      ...push.with,
      [name]: push.value,
    }));
    readTests(suite, description, [...pushed, ...(subject.variants ?? [])]);
  });
}
