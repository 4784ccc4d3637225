import { randomBytes } from 'node:crypto';
import type { Response } from 'express';
import { people } from './people.ts';

const buttons = people
  .map(
    ({ id, name }) =>
      `<button name="person" value="${id}">Sign in as ${id} <small>(${name})</small></button>`,
  )
  .join('\n');

const style = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color-scheme: light dark }
button { display: block; width: 100%; margin: .5rem 0; padding: .6rem; font: inherit; cursor: pointer }`;

/** Sends the page on which a developer chooses who signs in. Its form sends the choice to the address of the page. */
export function sendSignInPage(response: Response): void {
  const nonce = randomBytes(16).toString('base64');
  response
    .set(
      'content-security-policy',
      `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`,
    )
    .set('cache-control', 'no-store')
    .type('html')
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox: sign in</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<main>
<h1>Sign in</h1>
<p>This is the identity provider of the sandbox. It asks for no password: choose who you are.</p>
<form method="post">
${buttons}
</form>
</main>
</body>
</html>`);
}
