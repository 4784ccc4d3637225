// Tests the console of the compose stack in a browser: takes the tour of docs/console.md. Needs Docker and Chromium;
// takes minutes.
//
//   node scripts/run.mjs tests/compose/console.ts
import { startBrowser } from '../console/browser/browser.ts';
import { openSignedIn } from '../console/console-for-test.ts';
import { takeTour } from '../console/take-tour.ts';
import { sandboxControl } from '../harness/sandbox-control.ts';
import { runSteps } from './run-steps.ts';
import { type Stack, services } from './stack.ts';

async function tour(stack: Stack): Promise<void> {
  const browser = await startBrowser();
  try {
    const rootToken = await stack.rootToken();
    const { page, faults } = await openSignedIn(browser, { url: stack.url, rootToken }, '/');
    await takeTour({ page, sandbox: sandboxControl(stack.sandboxUrl) });
    if (faults.length > 0) throw new Error(`the browser reported:\n${faults.join('\n')}`);
  } finally {
    await browser.close();
  }
}

await runSteps('console', async (stack, step) => {
  await step('build', () => stack.compose('build', '--quiet'));
  await step('start', () => stack.up(services));
  await step('take the tour', () => tour(stack));
});
