import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import {
  CreateSecretCommand,
  DescribeSecretCommand,
  ListSecretsCommand,
} from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from '@jest/globals';
import { startSandbox } from '../src/sandbox.ts';
import { useSandbox } from './stores/clouda/clouda-harness.ts';

const CANARY = 'canary-3f9a1c';

const { sandbox, client } = useSandbox();

const control = (path: string, method = 'GET', body?: object) =>
  fetch(`${sandbox.url}/_sandbox/${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
const create = (Name: string) => client.send(new CreateSecretCommand({ Name, SecretString: CANARY }));
const list = () => client.send(new ListSecretsCommand({}));

describe('a page that a developer visits', () => {
  /** Sends a request as a browser would; `fetch` does not send these headers. */
  const ask = async (method: string, path: string, headers: Record<string, string>) => {
    const { hostname, port } = new URL(sandbox.url);
    const sent = request({ hostname, port, method, path, headers });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };

  test('reaches nothing by a name that it has bound to this machine', async () => {
    for (const path of ['/', '/_sandbox/stores', '/metadata/instance'])
      expect([path, await ask('GET', path, { host: 'evil.example:8300' })]).toEqual([path, 403]);
    expect(await ask('GET', '/_sandbox/stores', { host: 'localhost:1' })).toBe(200);
  });

  test('can neither change anything nor use the control API from its own site', async () => {
    await create('kept');
    const origin = 'https://evil.example';
    expect(await ask('POST', '/_sandbox/reset', { origin })).toBe(403);
    expect(await ask('GET', '/_sandbox/stores', { 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await ask('POST', `${sandbox.directory.path}/x/oauth2/v2.0/token`, { origin })).toBe(403);
    expect((await list()).SecretList).toHaveLength(1);
    expect(await ask('POST', '/_sandbox/reset', { origin: sandbox.url })).toBe(204);
  });

  test('reaches it by a name that the operator permits', async () => {
    const own = await startSandbox({ allowedHosts: ['sandbox'] });
    const { port } = new URL(own.url);
    const sent = request({ hostname: '127.0.0.1', port, headers: { host: 'sandbox:8300' } });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(200);
    await own.stop();
  });
});

describe('a change by hand', () => {
  const change = async (body: object) => {
    const answer = await control('secrets', 'POST', {
      store: 'cloudA-sm',
      action: 'edit',
      value: 'v',
      ...body,
    });
    return [answer.status, await answer.json()];
  };

  test('says how many secrets it has changed, and whether there is one', async () => {
    await create('by-hand');
    expect(await change({ name: 'by-hand' })).toEqual([200, { changed: 1 }]);
    expect(await change({ name: 'by-hand', region: 'us-west-2' })).toMatchObject([404, {}]);
    expect(await change({ name: 'by-hand', action: 'delete' })).toEqual([200, { changed: 1 }]);
    expect(await change({ name: 'by-hand' })).toMatchObject([404, { errors: [expect.any(String)] }]);
  });

  test('needs a store that exists, and a value', async () => {
    expect(await change({ name: 'x', store: 'cloudX' })).toMatchObject([400, {}]);
    expect(await change({ name: 'x', value: undefined })).toMatchObject([400, {}]);
    expect(await change({ name: 'x', action: 'rename' })).toMatchObject([400, {}]);
  });
});

describe('faults', () => {
  test('a fault is added, listed and removed by its ID', async () => {
    const added = await control('faults', 'POST', { store: 'cloudA-sm', effect: 'throttle' });
    expect(added.status).toBe(201);
    await expect(list()).rejects.toMatchObject({ name: 'ThrottlingException' });
    expect(await (await control('faults')).json()).toMatchObject({
      faults: [{ store: 'cloudA-sm', effect: 'throttle' }],
    });
    const { id } = (await added.json()) as { id: string };
    expect((await control(`faults/${id}`, 'DELETE')).status).toBe(204);
    await list();
    expect((await control(`faults/${id}`, 'DELETE')).status).toBe(404);
  });

  test('all faults are removed at once', async () => {
    await control('faults', 'POST', { store: 'cloudA-sm', effect: 'reset' });
    expect((await control('faults', 'DELETE')).status).toBe(204);
    await list();
  });

  test.each([
    ['an unknown store', { store: 'none', effect: 'reset' }],
    ['an unknown effect', { store: 'cloudA-sm', effect: 'rain' }],
    ['no store', {}],
  ])('a fault with %s is rejected with a reason', async (_, body) => {
    const response = await control('faults', 'POST', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ errors: [expect.any(String)] });
  });
});

describe('calls', () => {
  test('are listed without values', async () => {
    await create('seen/1');
    const absent = client.send(new DescribeSecretCommand({ SecretId: 'absent' }));
    await expect(absent).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    const text = await (await control('calls?store=cloudA-sm')).text();
    expect(text).not.toContain(CANARY);
    expect(JSON.parse(text).calls).toMatchObject([
      { operation: 'CreateSecret', name: 'seen/1', region: 'eu-west-1', outcome: 200 },
      { operation: 'DescribeSecret', name: 'absent', outcome: 400, sent: ['SecretId'] },
    ]);
  });

  test('an invalid limit is rejected', async () => {
    expect((await control('calls?limit=none')).status).toBe(400);
  });
});

describe('stores', () => {
  const secrets = async () => {
    const { stores } = (await (await control('stores')).json()) as {
      stores: Record<string, { secrets: object[] }>;
    };
    return stores['cloudA-sm']?.secrets;
  };

  test('secrets are listed with their values', async () => {
    await create('stored');
    expect(await secrets()).toEqual([
      {
        name: 'stored',
        region: 'eu-west-1',
        value: CANARY,
        tags: {},
        version_count: 1,
        deleted_at: null,
        updated_at: expect.any(String),
      },
    ]);
  });

  test('a reset discards secrets, calls and faults', async () => {
    await create('discarded');
    sandbox.cloudA.faults.add({ effect: 'reset' });
    expect((await control('reset', 'POST')).status).toBe(204);
    expect(await secrets()).toEqual([]);
    expect(sandbox.cloudA.calls()).toEqual([]);
    await list();
  });
});

describe('the cloud', () => {
  const json = async (response: Promise<Response>) =>
    // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of the response
    (await (await response).json()) as any;

  test('resources are added, listed and removed', async () => {
    const { resource_manager: group } = await json(control('about'));
    const id = `/subscriptions/${group.subscription_id}/resourceGroups/other/providers/Microsoft.Web/sites/s`;
    const added = await control('resources', 'POST', { id, principal: true });
    expect(added.status).toBe(201);
    const { principal } = (await added.json()) as { principal: { principalId: string } };
    const { resources } = await json(control('resources'));
    expect(resources).toContainEqual(expect.objectContaining({ id, principal }));
    const { directory } = await json(control('about'));
    expect(directory.identities).toContainEqual(
      expect.objectContaining({ name: 's', oid: principal.principalId }),
    );
    const { token } = await json(control('directory/token', 'POST', { identity: 's', audience: 'x' }));
    expect(token).toEqual(expect.any(String));
    expect((await control(`resources?id=${id.toUpperCase()}`, 'DELETE')).status).toBe(204);
    expect((await control(`resources?id=${id}`, 'DELETE')).status).toBe(404);
    expect((await control('resources', 'POST', { id: '/subscriptions/x' })).status).toBe(400);
  });

  test('role assignments are added, listed and removed', async () => {
    const assignment = { principalId: 'p', scope: '/subscriptions/s/resourceGroups/g', actions: ['*/read'] };
    const { id } = await json(control('role-assignments', 'POST', assignment));
    const { role_assignments } = await json(control('role-assignments'));
    expect(role_assignments).toContainEqual({ id, ...assignment });
    expect((await control(`role-assignments/${id}`, 'DELETE')).status).toBe(204);
    expect((await control(`role-assignments/${id}`, 'DELETE')).status).toBe(404);
    expect((await control('role-assignments', 'POST', { principalId: 'p', scope: '/' })).status).toBe(400);
  });

  test('passwords are added, listed without their text, and removed', async () => {
    const request = { displayName: 'theirs', secretText: CANARY, endDateTime: '2030-01-01T00:00:00Z' };
    const { keyId } = await json(control('directory/passwords', 'POST', request));
    const listed = await (await control('directory/passwords')).text();
    expect(listed).not.toContain(CANARY);
    expect(JSON.parse(listed).passwords[1]).toEqual({
      keyId,
      displayName: 'theirs',
      hint: CANARY.slice(0, 3),
      startDateTime: expect.any(String),
      endDateTime: '2030-01-01T00:00:00.000Z',
    });
    expect((await control(`directory/passwords/${keyId}`, 'DELETE')).status).toBe(204);
    expect((await control(`directory/passwords/${keyId}`, 'DELETE')).status).toBe(404);
  });

  test('settings of the directory are changed one by one', async () => {
    await control('directory/settings', 'POST', { passwordDelayMs: 100 });
    expect(await json(control('directory/settings', 'POST', { graphPermissions: [] }))).toEqual({
      passwordDelayMs: 100,
      removalDelayMs: 0,
      graphPermissions: [],
      resourceClaims: true,
      domains: ['sandbox.onmicrosoft.com'],
      instance: null,
    });
    expect((await json(control('directory/settings'))).passwordDelayMs).toBe(100);
    expect((await control('directory/settings', 'POST', { passwordDelay: 1 })).status).toBe(400);
  });

  test.each(['resource-manager', 'graph', 'directory'])('%s has faults', async (store) => {
    expect((await control('faults', 'POST', { store, effect: 'throttle' })).status).toBe(201);
  });
});
