import type { Locator } from 'playwright-core';

/** Replaces the text of a code editor as a user does. `fill` would not raise the events of an input. */
export async function replaceText(editor: Locator, text: string): Promise<void> {
  await editor.press('ControlOrMeta+A');
  await editor.page().keyboard.insertText(text);
}
