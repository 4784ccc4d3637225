import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { securityHeaders } from '../../../services/gateway/src/console/security-headers.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openPage, startBrowser, type WatchedPage } from './browser.ts';
import { describeInBrowser } from './describe-in-browser.ts';

const html = (body: string) =>
  `<!doctype html><html lang="en"><title>A page</title><main><h1>A page</h1>${body}</main></html>`;

/** The checks of every other test here, on pages that have faults. */
describeInBrowser('what the tests notice', () => {
  let server: Server;
  let browser: Browser;
  let opened: WatchedPage;
  let body = '';
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeAll(async () => {
    server = createServer((_, response) => {
      response.writeHead(200, [...securityHeaders, 'content-type', 'text/html; charset=utf-8']);
      response.end(html(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    browser = await startBrowser();
    opened = await openPage(browser, url());
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function faultsOf(text: string, script = '0'): Promise<string[]> {
    body = text;
    const { page, faults } = opened;
    faults.splice(0);
    await page.goto('/ui/');
    await page.evaluate(script).catch(() => undefined);
    return [...faults, ...(await accessibilityFaults(page))];
  }

  test('nothing, on a page without faults', async () => {
    expect(await faultsOf('<p>Some text.</p>')).toEqual([]);
  });

  test.each([
    ['a script in the page', '<script>1</script>', '0', 'script-src'],
    ['a style in the page', '<p style="color: red">Some text.</p>', '0', 'style-src'],
    ['markup from a string', '', 'document.body.innerHTML = "<b>bold</b>"', 'TrustedHTML'],
    ['code from a string', '', 'setTimeout("1")', 'TrustedScript'],
    ['an image of another origin', '<img alt="x" src="http://127.0.0.1:9/x.png">', '0', 'img-src'],
    ['an image without a text', '<img src="/x.png">', '0', 'image-alt'],
    ['a message in the log', '', 'console.error("broken")', 'broken'],
  ])('%s', async (_, text, script, expected) => {
    expect((await faultsOf(text, script)).join('\n')).toContain(expected);
  });
});
