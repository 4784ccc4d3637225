import { afterAll, afterEach, beforeAll, test } from '@jest/globals';
import { describeInBrowser } from './browser/describe-in-browser.ts';
import { type ConsoleForTest, startConsole } from './console-for-test.ts';
import { takeTour } from './take-tour.ts';

describeInBrowser('the tour', () => {
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
