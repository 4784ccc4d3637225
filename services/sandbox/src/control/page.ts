import { randomBytes } from 'node:crypto';
import express from 'express';

/** The page that shows the contents of the sandbox. It loads nothing from other origins and never interprets values as HTML. */
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
<p class="banner" role="note">This is a sandbox, not a real cloud. All values are shown in clear text. Do not store real secrets here.</p>
<main>
<h1>External stores</h1>
<p id="state" role="status">Loading…</p>
<div id="stores"></div>
<h2>Change a secret by hand</h2>
<p>As somebody does in the provider's console. <code>recreate</code> deletes it for good and creates another one without tags.</p>
<form id="hand-form">
<label>Store <select id="hand-store"></select></label>
<label>Name <input id="hand-name" required size="32"></label>
<label>Action <select id="hand-action"><option>edit</option><option>delete</option><option>recreate</option></select></label>
<label>New value <input id="hand-value" value="changed by hand" size="32"></label>
<button>Change</button>
</form>
<p id="hand-result" role="status"></p>
<h2>Credentials</h2>
<p>Use these requests to create a destination of each type. The keys are valid only in this sandbox.</p>
<div id="credentials"></div>
<h2>Directory</h2>
<p>Tenant <code id="tenant"></code></p>
<div id="identities"></div>
<h3>Application</h3>
<p>Client ID <code id="application"></code>, object ID <code id="application-object"></code>. Of its passwords, only the first characters are shown.</p>
<div id="passwords"></div>
<h3>Tokens</h3>
<form id="token-form">
<label>Identity <select id="identity"></select></label>
<label>Audience <input id="audience" value="https://management.azure.com/" size="32"></label>
<label>Version <select id="version"><option>1</option><option>2</option></select></label>
<button>Issue a token</button>
</form>
<pre id="token" hidden></pre>
<h3>From the command line</h3>
<pre id="commands"></pre>
<h2>Resources</h2>
<p>The machines and other resources that the resource API describes.</p>
<div id="resources"></div>
<h3>Role assignments</h3>
<div id="role-assignments"></div>
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
.deleting { opacity: .6; }
`;

const SCRIPT = `
'use strict';
const byId = (id) => document.getElementById(id);
const create = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};
function tableOf(headings, rows) {
  const table = create('table'), headRow = create('tr'), head = create('thead'), body = create('tbody');
  for (const text of headings) { const cell = create('th', text); cell.scope = 'col'; headRow.append(cell); }
  head.append(headRow);
  for (const { cells, className } of rows) {
    const row = create('tr', undefined, className);
    cells.forEach((text, column) => row.append(create('td', text, headings[column] === 'Value' ? 'value' : '')));
    body.append(row);
  }
  table.append(head, body);
  const container = create('div', undefined, 'scroll');
  container.append(table);
  return container;
}
function tagLines(tags) { return Object.entries(tags).map(([key, value]) => key + ' = ' + value).join('\\n'); }
function shortened(value) { return value === undefined ? '(none)' : value.length > 400 ? value.slice(0, 400) + '…' : value; }
function rowOf(secret) {
  const state = secret.deleted_at ? 'to be purged at ' + secret.deleted_at : 'active';
  return {
    className: secret.deleted_at ? 'deleting' : '',
    cells: [secret.name, secret.region, shortened(secret.value), tagLines(secret.tags), String(secret.version_count), state, secret.updated_at],
  };
}
const headings = ['Name', 'Region', 'Value', 'Tags', 'Versions', 'State', 'Last change'];
const lastTexts = new Map();
async function whenChanged(path, show) {
  const text = await (await fetch('_sandbox/' + path)).text();
  if (text === lastTexts.get(path)) return;
  show(JSON.parse(text));
  lastTexts.set(path, text);
}
async function refresh() {
  try {
    await whenChanged('stores?limit=200', showStores);
    await whenChanged('about', showDirectory);
    await whenChanged('directory/passwords', showPasswords);
    await whenChanged('resources', showResources);
    await whenChanged('role-assignments', showRoleAssignments);
    byId('state').textContent = 'Up to date. Refreshes every two seconds.';
  } catch { byId('state').textContent = 'The sandbox is not responding.'; }
}
function showStores({ stores }) {
  const sections = Object.entries(stores).flatMap(([name, store]) => [
    create('h2', name + ' (' + store.total + (store.total > store.secrets.length ? ', showing the newest ' + store.secrets.length : '') + ')'),
    store.total ? tableOf(headings, store.secrets.map(rowOf)) : create('p', 'No secrets yet.'),
  ]);
  byId('stores').replaceChildren(...sections);
  if (!byId('hand-store').value)
    byId('hand-store').replaceChildren(...Object.keys(stores).map((name) => create('option', name)));
}
function showPasswords({ passwords }) {
  byId('passwords').replaceChildren(tableOf(
    ['Name', 'Hint', 'Valid from', 'Valid until', 'Key ID'],
    passwords.map((one) => ({ cells: [one.displayName || '', one.hint + '…', one.startDateTime, one.endDateTime, one.keyId] })),
  ));
}
function identityLines({ principal, userAssigned }) {
  return [...(principal ? ['own: ' + principal.principalId] : []), ...userAssigned].join('\\n');
}
function showResources({ resources }) {
  const shown = resources.slice(0, 200).map((one) => ({ cells: [one.id, one.location, identityLines(one)] }));
  byId('resources').replaceChildren(tableOf(['Resource', 'Location', 'Identities'], shown));
}
function showRoleAssignments({ role_assignments }) {
  const shown = role_assignments.map((one) => ({ cells: [one.principalId, one.scope, one.actions.join('\\n')] }));
  byId('role-assignments').replaceChildren(tableOf(['Principal', 'Scope', 'Actions'], shown));
}
const exampleSettings = {
  'cloudA-sm': { region: 'eu-central-1' },
  'webhost-project': { deployment_environments: ['production', 'preview'] },
  codehost: { app_id: undefined, installation_id: undefined, private_key: undefined, repository_owner: 'acme', repository_name: 'web' },
};
const field = (key) => key.replace(/[A-Z]/g, (letter) => '_' + letter.toLowerCase());
function showCredentials(stores) {
  const requests = Object.entries(stores).map(([name, { credentials }]) => {
    const fields = Object.fromEntries(Object.entries(credentials).map(([key, value]) => [field(key), value]));
    return create('pre', 'POST /v1/sys/sync/destinations/' + name + '/<name>\\n' + JSON.stringify({ ...fields, ...exampleSettings[name] }, null, 2));
  });
  byId('credentials').replaceChildren(...requests);
}
function showDirectory({ stores, directory }) {
  showCredentials(stores);
  byId('application').textContent = directory.application.client_id;
  byId('application-object').textContent = directory.application.object_id;
  byId('tenant').textContent = directory.tenant_id;
  byId('identities').replaceChildren(tableOf(
    ['Identity', 'Kind', 'Object ID', 'Client ID', 'Resource', 'Groups'],
    directory.identities.map((one) => ({ cells: [one.name, one.kind, one.oid, one.appid, one.resourceId, (one.groups || []).join('\\n')] })),
  ));
  const chosen = byId('identity').value;
  byId('identity').replaceChildren(...directory.identities.map((one) => create('option', one.name)));
  if (directory.identities.some((one) => one.name === chosen)) byId('identity').value = chosen;
  const { origin } = location;
  byId('commands').textContent = [
    '# as a program on the machine itself would request it',
    "curl -s -H 'Metadata: true' '" + origin + "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/'",
    '',
    '# for any identity, with any claims',
    "curl -s -H 'content-type: application/json' -d '{\\"identity\\": \\"" + (directory.identities[0] || {}).name + "\\", \\"audience\\": \\"https://management.azure.com/\\"}' " + origin + '/_sandbox/directory/token',
  ].join('\\n');
}
byId('hand-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const request = { store: byId('hand-store').value, name: byId('hand-name').value, action: byId('hand-action').value, value: byId('hand-value').value };
  const response = await fetch('_sandbox/secrets', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) });
  const result = await response.json();
  byId('hand-result').textContent = result.errors ? result.errors.join('\\n') : 'Changed: ' + result.changed;
  refresh();
});
byId('token-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const request = { identity: byId('identity').value, audience: byId('audience').value, version: Number(byId('version').value) };
  const response = await fetch('_sandbox/directory/token', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(request) });
  const result = await response.json();
  byId('token').hidden = false;
  byId('token').textContent = result.token || result.errors.join('\\n');
});
refresh();
setInterval(refresh, 2000);
`;
