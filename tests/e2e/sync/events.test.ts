import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { EventClient } from '../../harness/event-client.ts';
import { eventually, quietFor } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { longTest } from '../../harness/run-size.ts';
import { openDatabase } from '../../harness/standalone.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';

let system: Installation;
let at: SyncFixture;
const clients: EventClient[] = [];

beforeAll(async () => {
  system = await startInstallation();
  at = await SyncFixture.create(system);
});
afterAll(() => system?.stop());
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

/** Follows events, by default with the root token. */
async function follow(
  following: Partial<Parameters<typeof EventClient.open>[1]> = {},
  options: { reads?: boolean } = {},
): Promise<EventClient> {
  const client = await EventClient.open(system.url, { token: system.rootToken, ...following }, options);
  clients.push(client);
  return client;
}

/** Creates a token whose only policy is this one. Returns the token and the name of the policy. */
async function tokenWith(policy: string): Promise<{ token: string; policy: string }> {
  const name = `p-${randomUUID()}`;
  expectStatus(await system.api('POST', `sys/policies/acl/${name}`, { policy }), 204);
  const created = await system.api('POST', 'auth/token/create', {
    policies: [name],
    no_default_policy: true,
  });
  return { token: expectStatus(created, 200).body.auth.client_token, policy: name };
}

const mayFollow = 'path "sys/sync/events" { capabilities = ["read"] }';
const mayRead = (path: string) => `${mayFollow} path "${path}" { capabilities = ["read"] }`;

test('a stream begins with its position, and shows what becomes of an association, without values', async () => {
  const client = await follow();
  expect(client.status).toBe(200);
  expect(client.response.headers['content-type']).toBe('text/event-stream');
  expect(client.response.headers['cache-control']).toBe('no-store');
  expect((await client.received(() => true)).kind).toBe('open');
  await at.sync('shop/db', { password: 'canary-value' });
  const synced = await client.received(({ sync_status }) => sync_status === 'SYNCED');
  const named = { type: 'cloudA-sm', name: at.destination, mount: at.mount, secret_name: 'shop/db' };
  expect(synced).toEqual({
    ...named,
    id: expect.any(String),
    time: expect.any(String),
    kind: 'entry',
    namespace: '',
    sub_key: '',
    external_name: at.externalName('shop/db'),
    sync_status: 'SYNCED',
    outcome: 'succeeded',
    fault: null,
    last_error: null,
    attempts: 0,
  });
  // It begins below the oldest transaction in progress, so it may include older events.
  const shown = client.events.filter(({ kind, secret_name }) => kind === 'open' || secret_name === 'shop/db');
  const kinds = shown.map(({ kind, sync_status }) => [kind, sync_status].filter(Boolean).join(' '));
  expect(kinds).toEqual(['open', 'association_set', 'entry PENDING', 'entry SYNCED']);
  await at.removeAndWait('shop/db');
  await client.received(({ kind }) => kind === 'association_removed');
  expect(client.text).not.toContain('canary');
});

test('a failure says why', async () => {
  const client = await follow();
  await system.sandbox.fault({ effect: 'error', code: 'AccessDeniedException', status: 400 });
  await at.write('shop/failing', { k: 'v' });
  await at.set('shop/failing', {}, '?wait=0');
  const failed = await client.received(({ outcome }) => outcome === 'failed');
  expect(failed).toMatchObject({ fault: 'forbidden', last_error: expect.any(String) });
  await system.sandbox.clearFaults();
});

test('a client resumes after the last event that it has received, by header or query', async () => {
  const first = await follow();
  await at.sync('shop/resumed', { k: 'v' });
  const { id } = await first.received(({ sync_status }) => sync_status === 'SYNCED');
  first.close();
  await at.write('shop/resumed', { k: 'w' });
  await at.untilStatus('shop/resumed', 'SYNCED');
  for (const following of [{ lastEventId: id }, { query: `?after=${id}` }]) {
    const again = await follow(following);
    await again.received(({ sync_status }) => sync_status === 'SYNCED');
    const [open, ...missed] = again.events;
    expect(open).toMatchObject({ kind: 'open', id });
    expect(missed.map(({ sync_status }) => sync_status)).toEqual(['PENDING', 'SYNCED']);
  }
});

test('a client that was away for too long is asked to read again', async () => {
  const client = await follow({ query: '?after=1-1' });
  const db = openDatabase(system);
  await db.query(`update sync.event_progress set swept_xid = '2', swept_id = 1`).finally(() => db.close());
  client.close();
  const later = await follow({ query: '?after=1-1' });
  expect(await later.received(() => true)).toMatchObject({ kind: 'reset', id: later.lastId });
  await at.sync('shop/after-reset', { k: 'v' });
  await later.received(({ secret_name }) => secret_name === 'shop/after-reset');
});

test('an ID that is not one is refused', async () => {
  const client = await follow({ query: '?after=x' });
  expect(client.status).toBe(400);
});

test('a token sees what its policies allow it to read, and no more of it than that endpoint shows', async () => {
  const { token } = await tokenWith(mayRead(`sys/sync/associations/${at.mount}/mine/*`));
  const client = await follow({ token });
  await at.sync('other/a', { k: 'v' });
  await at.sync('mine/a', { k: 'v' });
  await client.received(({ sync_status }) => sync_status === 'SYNCED');
  await at.removeAndWait('mine/a');
  await client.received(({ kind }) => kind === 'association_removed');
  expect(client.text).not.toContain('other');
  expect(client.events[2]).toEqual({
    id: expect.any(String),
    time: expect.any(String),
    kind: 'entry',
    namespace: '',
    type: 'cloudA-sm',
    name: at.destination,
    mount: at.mount,
    secret_name: 'mine/a',
    sync_status: 'PENDING',
  });
});

test('a changed policy applies to a stream that is open', async () => {
  const { token, policy } = await tokenWith(mayRead(`sys/sync/associations/${at.mount}/marker/*`));
  const client = await follow({ token });
  await client.received(({ kind }) => kind === 'open');
  await at.sync('shop/unseen', { k: 'v' });
  await at.sync('marker/a', { k: 'v' });
  await client.received(({ secret_name }) => secret_name === 'marker/a'); // what came before is not sent later
  const wider = { policy: mayRead(`${at.path}/associations`) };
  expectStatus(await system.api('POST', `sys/policies/acl/${policy}`, wider), 204);
  await at.sync('shop/seen', { k: 'v' });
  await client.received(({ secret_name }) => secret_name === 'shop/seen');
  expect(client.text).not.toContain('shop/unseen');
  expectStatus(
    await system.api('POST', `sys/policies/acl/${policy}`, {
      policy: mayRead('kv/data/a').slice(mayFollow.length),
    }),
    204,
  );
  await client.untilEnded(); // it may not follow any more
});

test('a namespace sees nothing of another', async () => {
  const namespace = `n-${randomUUID()}`;
  expectStatus(await system.api('POST', `sys/namespaces/${namespace}`), 200);
  const client = await follow({ namespace });
  await client.received(({ kind }) => kind === 'open');
  await at.sync('shop/elsewhere', { k: 'v' });
  const destination = { ...(await system.sandbox.credentials()), region: 'eu-west-1' };
  expectStatus(
    await system.api('POST', `${namespace}/sys/sync/destinations/cloudA-sm/own`, destination),
    200,
  );
  const created = await client.received(({ kind }) => kind === 'destination_created');
  expect(created).toMatchObject({ namespace, type: 'cloudA-sm', name: 'own' });
  expect(client.text).not.toContain('elsewhere');
});

test('a policy that was changed in the database grants nothing', async () => {
  const { token, policy } = await tokenWith(mayFollow);
  const db = openDatabase(system);
  const change = `rules = rules || '{"changed": true}'`;
  await db.query(`update login.policies set ${change} where name = $1`, [policy]).finally(db.close);
  expect((await follow({ token })).status).toBe(403);
});

test('a stream ends when its token is revoked, and its request has one outcome in the audit log', async () => {
  const { token } = await tokenWith(mayFollow);
  const client = await follow({ token });
  await client.received(({ kind }) => kind === 'open');
  expectStatus(await system.api('POST', 'auth/token/revoke', { token }), 204);
  await client.untilEnded();
  expect((await follow({ token })).status).toBe(403);
  const lines = readFileSync(join(system.dataDir, 'audit.log'), 'utf8').trim().split('\n');
  const own = lines.map((line) => JSON.parse(line)).filter(({ request_id: id }) => id === client.requestId);
  expect(own.map(({ type, path, status }) => [type, path, status])).toEqual([
    ['request', 'sys/sync/events', undefined],
    ['response', 'sys/sync/events', 200],
  ]);
});

test('a stream ends when its token expires', async () => {
  const created = await system.api('POST', 'auth/token/create', { ttl: '5s' });
  const client = await follow({ token: expectStatus(created, 200).body.auth.client_token });
  await client.received(({ kind }) => kind === 'open');
  await client.untilEnded();
});

test('one token has a limited number of streams', async () => {
  const created = await system.api('POST', 'auth/token/create', {});
  const { client_token: token } = expectStatus(created, 200).body.auth;
  const opened = await Promise.all(Array.from({ length: 17 }, () => follow({ token })));
  const refused = opened.filter(({ status }) => status === 429);
  expect(refused.map(({ response }) => response.headers['retry-after'])).toEqual(['10']);
  opened.find(({ status }) => status === 200)?.close();
  await eventually(
    async () => (await follow({ token })).status,
    (status) => status === 200,
  );
});

test('the stream shows the switch and the life of a destination', async () => {
  const client = await follow();
  await client.received(({ kind }) => kind === 'open');
  expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: true }), 200);
  expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: false }), 200);
  const other = await SyncFixture.create(system);
  expectStatus(await system.api('PATCH', other.path, { custom_tags: { a: 'b' } }), 200);
  expectStatus(await system.api('DELETE', `${other.path}?purge=true`), 204);
  await client.received(({ kind }) => kind === 'destination_deleted');
  const kinds = client.events.filter(({ work }) => work === undefined).map(({ kind }) => kind);
  expect(kinds).toEqual([
    'open',
    'sync_disabled',
    'sync_enabled',
    'destination_created',
    'destination_updated',
    'destination_deleted',
  ]);
});

test('throughput counts the attempts of the last hour', async () => {
  await at.sync('shop/counted', { k: 'v' });
  const { data } = await eventually(
    async () => (await system.api('GET', 'sys/sync/throughput')).body,
    ({ data }) => data.types['cloudA-sm']?.succeeded.some((count: number) => count > 0),
  );
  expect(data.minutes).toBe(61);
  expect(data.types['cloudA-sm'].succeeded).toHaveLength(61);
});

longTest('a client that does not read loses the connection, and others do not notice', async () => {
  const [slow, other] = [await follow({}, { reads: false }), await follow()];
  const db = openDatabase(system);
  // As large as what the buffers of both connections may take.
  await db
    .query(
      `insert into sync.events (kind, namespace_id, destination_type, destination_name)
       select 'destination_updated', 'root', 'cloudA-sm', 'd' || n || repeat('x', 4000) from generate_series(1, 10000) as n`,
    )
    .finally(() => db.close());
  await other.received(({ name }) => name?.startsWith('d10000x'));
  await quietFor(25_000);
  slow.read();
  await slow.untilEnded();
  expect(slow.events.some(({ name }) => name?.startsWith('d10000x'))).toBe(false);
  expect(other.hasEnded).toBe(false);
});

test('a stream ends when the service stops, and resumes after it has started again', async () => {
  const client = await follow();
  const { id } = await client.received(({ kind }) => kind === 'open');
  await system.crash();
  await client.untilEnded();
  await at.sync('shop/after-restart', { k: 'v' });
  const again = await follow({ lastEventId: id });
  await again.received(({ secret_name }) => secret_name === 'shop/after-restart');
  await system.stop();
  await again.untilEnded();
});
