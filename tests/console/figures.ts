// Prints the size of the console and how fast it is on this machine:
//
//   node scripts/run.mjs tests/console/figures.ts
import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { startInstallation } from '../harness/installation.ts';
import { openPage, startBrowser } from './browser/browser.ts';

const repetitions = 5;

interface Load {
  /** Bytes of the files as they were transferred, with headers. */
  bytes: number;
  files: number;
  /** Until the first text was painted. */
  paintedMs: number;
  /** Until the form could be used. */
  usableMs: number;
}

const timings = `(() => {
  const files = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return JSON.stringify({
    bytes: files.reduce((sum, { transferSize }) => sum + transferSize, 0),
    files: files.length,
    paintedMs: paint?.startTime ?? NaN,
  });
})()`;

/** Loads the sign-in page in a new session, without anything in the cache. */
async function firstLoad(browser: Browser, url: string): Promise<Load> {
  const { page, close } = await openPage(browser, url);
  try {
    const started = performance.now();
    await page.goto('/ui/', { waitUntil: 'commit' });
    await page.getByRole('textbox', { name: 'Token' }).fill(randomUUID());
    const usableMs = performance.now() - started;
    await page.waitForFunction('performance.getEntriesByName("first-contentful-paint").length > 0');
    return { ...JSON.parse(await page.evaluate(timings)), usableMs };
  } finally {
    await close();
  }
}

/** The time from the press of “Sign in” until the overview has its numbers. */
async function overviewMs(browser: Browser, url: string, token: string): Promise<number> {
  const { page, close } = await openPage(browser, url);
  try {
    await page.goto('/ui/');
    await page.getByRole('textbox', { name: 'Token' }).fill(token);
    const started = performance.now();
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Oldest due work').waitFor();
    return performance.now() - started;
  } finally {
    await close();
  }
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const service = await startInstallation();
const browser = await startBrowser();
try {
  const loads: Load[] = [];
  const overviews: number[] = [];
  for (let at = 0; at < repetitions; at += 1) {
    loads.push(await firstLoad(browser, service.url));
    overviews.push(await overviewMs(browser, service.url, service.rootToken));
  }
  const of = (field: keyof Load) => median(loads.map((load) => load[field]));
  console.log(`${browser.version()}, median of ${repetitions} loads without a cache`);
  console.log(`first load: ${(of('bytes') / 1_024).toFixed(0)} KiB compressed, in ${of('files')} files`);
  console.log(`first contentful paint: ${of('paintedMs').toFixed(0)} ms`);
  console.log(`the sign-in form can be used: ${of('usableMs').toFixed(0)} ms`);
  console.log(`from signing in to the numbers of the overview: ${median(overviews).toFixed(0)} ms`);
} finally {
  await browser.close();
  await service.stop();
}
