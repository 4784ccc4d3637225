import { afterAll, afterEach, beforeAll, describe, test } from '@jest/globals';
import { isLongRun } from '../harness/run-size.ts';
import { describeInBrowser } from './browser/describe-in-browser.ts';
import { takesPictures } from './browser/picture.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';
import { takeTour } from './take-tour.ts';

// Short runs have a shorter tour in sync.test.ts.
(isLongRun || takesPictures ? describeInBrowser : describe.skip)('the tour', () => {
  let console: ConsoleForTest;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console?.stop());
  afterEach(() => console.closePages());

  test('a newcomer syncs a secret, pauses, breaks the credentials, reads why it fails, fixes them and retries', async () => {
    const page = await console.open('/', { viewport: { width: 1120, height: 760 } });
    await takeTour({ page, sandbox: console.sandbox });
  });
});
