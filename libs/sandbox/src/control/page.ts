import { randomBytes } from 'node:crypto';
import express from 'express';

/** The page that shows what the sandbox holds. It loads nothing from elsewhere, and writes texts only as texts. */
export function pageRoutes(): express.Router {
  const routes = express.Router();
  routes.get('/', (_request, response) => {
    const nonce = randomBytes(16).toString('base64');
    response
      .set(
        'content-security-policy',
        `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'`,
      )
      .set('cache-control', 'no-store')
      .type('html')
      .send(page(nonce));
  });
  return routes;
}

function page(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox: external stores</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<p class="banner" role="note">This is a sandbox. Nothing here is a real cloud; every value is shown in clear. Put no real secret in it.</p>
<main>
<h1>External stores</h1>
<p id="state" role="status">Loading…</p>
<div id="stores"></div>
<h2>Ways in</h2>
<p>What a destination of each type is created with. The keys are this sandbox's own and open nothing else.</p>
<div id="ways"></div>
<h2>Directory</h2>
<p>Tenant <code id="tenant"></code></p>
<div id="identities"></div>
<form id="order">
<label>Identity <select id="identity"></select></label>
<label>Audience <input id="audience" value="https://management.azure.com/" size="32"></label>
<label>Version <select id="version"><option>1</option><option>2</option></select></label>
<button>Make a token</button>
</form>
<pre id="token" hidden></pre>
<h3>From a shell</h3>
<pre id="howto"></pre>
</main>
<script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 80rem; margin: 0 auto; padding: 1rem; }
.banner { margin: 0; padding: .6rem 1rem; background: #8a4b00; color: #fff; font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #8886; }
td { overflow-wrap: anywhere; white-space: pre-wrap; }
code, pre, td.value { font-family: ui-monospace, monospace; }
pre { padding: .8rem; background: #8882; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: .8rem; align-items: end; margin: 1rem 0; }
.leaving { opacity: .6; }
`;

const SCRIPT = `
'use strict';
const at = (id) => document.getElementById(id);
const make = (tag, text, kind) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
};
function table(heads, rows) {
  const whole = make('table'), head = make('tr'), top = make('thead'), body = make('tbody');
  for (const text of heads) { const cell = make('th', text); cell.scope = 'col'; head.append(cell); }
  top.append(head);
  for (const { cells, kind } of rows) {
    const row = make('tr', undefined, kind);
    cells.forEach((text, column) => row.append(make('td', text, heads[column] === 'Value' ? 'value' : '')));
    body.append(row);
  }
  whole.append(top, body);
  const frame = make('div', undefined, 'scroll');
  frame.append(whole);
  return frame;
}
function pairs(tags) { return Object.entries(tags).map(([key, value]) => key + ' = ' + value).join('\\n'); }
function short(value) { return value === undefined ? '(none)' : value.length > 400 ? value.slice(0, 400) + '…' : value; }
function rowOf(secret) {
  const state = secret.deleted_at ? 'ends ' + secret.deleted_at : 'live';
  return {
    kind: secret.deleted_at ? 'leaving' : '',
    cells: [secret.name, secret.region, short(secret.value), pairs(secret.tags), String(secret.version_count), state, secret.updated_at],
  };
}
const heads = ['Name', 'Region', 'Value', 'Tags', 'Versions', 'State', 'Last change'];
let shownBefore = '';
async function refresh() {
  try {
    const text = await (await fetch('_sandbox/stores?limit=200')).text();
    at('state').textContent = 'Up to date; looks again every two seconds.';
    if (text === shownBefore) return;
    shownBefore = text;
    const parts = Object.entries(JSON.parse(text).stores).flatMap(([name, store]) => [
      make('h2', name + ' (' + store.total + (store.total > store.secrets.length ? ', the newest ' + store.secrets.length + ' shown' : '') + ')'),
      store.total ? table(heads, store.secrets.map(rowOf)) : make('p', 'Holds nothing yet.'),
    ]);
    at('stores').replaceChildren(...parts);
  } catch { at('state').textContent = 'The sandbox does not answer.'; }
}
const anywhere = { 'cloudA-sm': { region: 'eu-central-1' } };
const field = (key) => key.replace(/[A-Z]/g, (letter) => '_' + letter.toLowerCase());
function showWays(stores) {
  const ways = Object.entries(stores).map(([name, { credentials }]) => {
    const fields = Object.fromEntries(Object.entries(credentials).map(([key, value]) => [field(key), value]));
    return make('pre', 'POST /v1/sys/sync/destinations/' + name + '/<name>\\n' + JSON.stringify({ ...fields, ...anywhere[name] }, null, 2));
  });
  at('ways').replaceChildren(...ways);
}
async function showAbout() {
  const { stores, directory } = await (await fetch('_sandbox/about')).json();
  showWays(stores);
  at('tenant').textContent = directory.tenant_id;
  at('identities').replaceChildren(table(
    ['Identity', 'Kind', 'Object id', 'Client id', 'Runs as', 'Groups'],
    directory.identities.map((one) => ({ cells: [one.name, one.kind, one.oid, one.appid, one.resourceId, (one.groups || []).join('\\n')] })),
  ));
  at('identity').replaceChildren(...directory.identities.map((one) => make('option', one.name)));
  const here = location.origin;
  at('howto').textContent = [
    '# as a program on the machine itself would ask',
    "curl -s -H 'Metadata: true' '" + here + "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/'",
    '',
    '# any identity, any shape',
    "curl -s -H 'content-type: application/json' -d '{\\"identity\\": \\"" + (directory.identities[0] || {}).name + "\\", \\"audience\\": \\"https://management.azure.com/\\"}' " + here + '/_sandbox/directory/token',
  ].join('\\n');
}
at('order').addEventListener('submit', async (event) => {
  event.preventDefault();
  const order = { identity: at('identity').value, audience: at('audience').value, version: Number(at('version').value) };
  const answer = await fetch('_sandbox/directory/token', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) });
  const made = await answer.json();
  at('token').hidden = false;
  at('token').textContent = made.token || made.errors.join('\\n');
});
showAbout();
refresh();
setInterval(refresh, 2000);
`;
