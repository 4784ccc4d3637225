import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';

const folder = fileURLToPath(new URL('../../../docs/console/', import.meta.url));

/** Whether this run writes the pictures of docs/console.md. */
export const takesPictures = Boolean(process.env.UPDATE_SCREENSHOTS);

/** With `UPDATE_SCREENSHOTS`, writes what the window shows, or a part of the page, to docs/console/<name>.png. */
export async function picture(page: Page, name: string, part?: Locator): Promise<void> {
  if (!takesPictures) return;
  await page.evaluate('scrollTo(0, 0)');
  mkdirSync(folder, { recursive: true });
  await (part ?? page).screenshot({ path: `${folder}${name}.png`, animations: 'disabled', caret: 'hide' });
}
