import { describe } from '@jest/globals';
import { findChromium } from '../../../scripts/test-services/installed-chromium.ts';

const hasBrowser = findChromium() !== undefined;
if (!hasBrowser) console.warn('not run: tests in a browser: Chromium is not installed');

/** `describe`, if this machine has a browser. With `CI=true`, scripts/test.ts fails without one. */
export const describeInBrowser = hasBrowser ? describe : describe.skip;
