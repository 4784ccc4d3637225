import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** Returns the path of Chromium: that of `TEST_CHROMIUM`, or of a program in the search path. Undefined if there is none. */
export const findChromium = (): string | undefined =>
  process.env.TEST_CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
