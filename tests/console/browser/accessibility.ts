import axe from 'axe-core';
import type { CDPSession, Page } from 'playwright-core';

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** react-aria announces the state of a button there, by reference, for 7 s: also after the button has gone. */
const announcements = '[data-live-announcer]';
const context = JSON.stringify({ include: [['html']], exclude: [[announcements]] });
const program = `${axe.source}; axe.run(${context}, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })
  .then(({ violations }) => JSON.stringify(violations))`;

interface Violation {
  id: string;
  help: string;
  nodes: { target: unknown; failureSummary: string }[];
}

/**
 * Searches a page for violations of WCAG 2.2 AA, and returns a sentence for each. axe runs in a world of its own, so
 * that the page's content security policy neither prevents it nor needs an exception for it.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const contextId = await isolatedWorld(session);
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      contextId,
      expression: program,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`axe failed: ${JSON.stringify(exceptionDetails)}`);
    const violations: Violation[] = JSON.parse(result.value);
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) => `${id}: ${help}: ${JSON.stringify(target)} ${failureSummary}`,
      ),
    );
  } finally {
    await session.detach();
  }
}

async function isolatedWorld(session: CDPSession): Promise<number> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = { frameId: frameTree.frame.id, worldName: 'accessibility' };
  return (await session.send('Page.createIsolatedWorld', world)).executionContextId;
}
