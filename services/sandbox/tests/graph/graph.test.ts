import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { holding } from '../stores/cloudb/cloudb-harness.ts';
import { applicationCredential } from '../stores/cloudb/provider-clients.ts';
import { graphClient } from './graph-harness.ts';

const startMs = Date.now();
let offsetMs = 0;
let sandbox: Sandbox;
let graph: ReturnType<typeof graphClient>;

beforeAll(async () => {
  sandbox = await startSandbox({ clock: () => startMs + offsetMs });
  graph = graphClient(sandbox);
});
afterAll(() => sandbox.stop());
beforeEach(() => {
  offsetMs = 0;
  sandbox.reset();
});

/** Whether the directory accepts a password. */
const works = (clientSecret: string): Promise<boolean> =>
  applicationCredential(sandbox, clientSecret)
    .getToken('https://management.azure.com/.default')
    .then(
      () => true,
      () => false,
    );
const errorWith = (statusCode: number, code: string) => expect.objectContaining({ statusCode, code });

describe('an application', () => {
  test('is found by its client ID and by its object ID, with its passwords but not their text', async () => {
    const { clientId, objectId, clientSecret } = sandbox.directory.application;
    const found = [
      await graph.client.api(graph.path).get(),
      await graph.client.api(`/applications(appId='${clientId}')`).get(),
      (await graph.client.api('/applications').filter(`appId eq '${clientId}'`).get()).value[0],
      (await graph.client.api('/applications').get()).value[0],
    ];
    for (const application of found) expect(application).toMatchObject({ id: objectId, appId: clientId });
    expect(found[0].passwordCredentials).toEqual([
      {
        customKeyIdentifier: null,
        displayName: 'sandbox',
        hint: clientSecret.slice(0, 3),
        keyId: expect.any(String),
        secretText: null,
        startDateTime: expect.stringMatching(/Z$/),
        endDateTime: expect.stringMatching(/Z$/),
      },
    ]);
  });

  test('that does not exist is not found', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const path of [`/applications/${unknown}`, `/applications(appId='${unknown}')`])
      await expect(graph.client.api(path).get()).rejects.toEqual(errorWith(404, 'Request_ResourceNotFound'));
    const { value } = await graph.client.api('/applications').filter(`appId eq '${unknown}'`).get();
    expect(value).toEqual([]);
    await expect(graph.client.api('/applications').filter("displayName eq 'x'").get()).rejects.toEqual(
      errorWith(400, 'Request_UnsupportedQuery'),
    );
  });
});

describe('a password', () => {
  test('is returned once, and works beside the others', async () => {
    const endDateTime = new Date(startMs + 3_600_000).toISOString();
    const added = await graph.addPassword({ displayName: 'rotated', endDateTime });
    expect(added).toMatchObject({ displayName: 'rotated', endDateTime, hint: added.secretText?.slice(0, 3) });
    expect(await works(added.secretText!)).toBe(true);
    expect(await works(sandbox.directory.application.clientSecret)).toBe(true);
    expect(await graph.passwords()).toMatchObject([{}, { keyId: added.keyId, secretText: null }]);
  });

  test('is valid from its start until its end', async () => {
    const at = (ms: number) => new Date(startMs + ms).toISOString();
    const { secretText } = await graph.addPassword({ startDateTime: at(60_000), endDateTime: at(120_000) });
    expect(await works(secretText!)).toBe(false);
    offsetMs = 60_000;
    expect(await works(secretText!)).toBe(true);
    offsetMs = 120_000;
    const expired = applicationCredential(sandbox, secretText!).getToken('x/.default');
    await expect(expired).rejects.toThrow(/AADSTS7000222/);
  });

  test('works only after the delay that is set', async () => {
    sandbox.directory.configure({ passwordDelayMs: 5_000 });
    const { secretText } = await graph.addPassword();
    expect(await works(secretText!)).toBe(false);
    offsetMs = 5_000;
    expect(await works(secretText!)).toBe(true);
  });

  test('no longer works after its removal', async () => {
    const added = await graph.addPassword();
    await graph.removePassword(added.keyId);
    expect(await works(added.secretText!)).toBe(false);
    expect(await graph.passwords()).toHaveLength(1);
    await expect(graph.removePassword(added.keyId)).rejects.toEqual(errorWith(400, 'Request_BadRequest'));
  });

  test('works for a while after its removal, if that is set', async () => {
    const { keyId, secretText } = await graph.addPassword();
    sandbox.directory.configure({ removalDelayMs: 5_000 });
    await graph.removePassword(keyId);
    expect(await graph.passwords()).toHaveLength(1);
    expect(await works(secretText!)).toBe(true);
    offsetMs = 5_000;
    expect(await works(secretText!)).toBe(false);
  });

  test.each([
    ['an end that is not a time', { endDateTime: 'tomorrow' }],
    [
      'an end before its start',
      { startDateTime: '2030-01-01T00:00:00Z', endDateTime: '2029-01-01T00:00:00Z' },
    ],
  ])('is refused with %s', async (_, password) => {
    await expect(graph.addPassword(password)).rejects.toEqual(errorWith(400, 'Request_BadRequest'));
  });
});

describe('permissions', () => {
  test.each([
    ['none', [], false, false],
    ['reading only', ['Application.Read.All'], true, false],
    ['changing all', ['Application.ReadWrite.All'], true, true],
  ])('%s', async (_, graphPermissions, mayRead, mayWrite) => {
    const denied = errorWith(403, 'Authorization_RequestDenied');
    sandbox.directory.configure({ graphPermissions });
    const [read, write] = [graph.passwords(), graph.addPassword()];
    await (mayRead ? expect(read).resolves.toBeDefined() : expect(read).rejects.toEqual(denied));
    await (mayWrite ? expect(write).resolves.toBeDefined() : expect(write).rejects.toEqual(denied));
  });

  test('belong to the application only', async () => {
    const audience = 'https://graph.microsoft.com';
    const token = await sandbox.directory.issueTokenFor('web-1', { audience });
    await expect(graphClient(sandbox, holding(token)).passwords()).rejects.toEqual(
      errorWith(403, 'Authorization_RequestDenied'),
    );
  });

  test.each([
    ['another audience', { audience: 'https://management.azure.com/' }],
    ['an expired token', { expiresInSeconds: -600 }],
    ['another signature', { wrongKey: true }],
    ['another tenant', { overrides: { tid: 'x' } }],
  ])('do not help a token with %s', async (_, options) => {
    const { oid } = sandbox.directory.application;
    const audience = 'https://graph.microsoft.com';
    const token = await sandbox.directory.issueToken({ oid, audience, ...options });
    await expect(graphClient(sandbox, holding(token)).passwords()).rejects.toEqual(
      errorWith(401, 'InvalidAuthenticationToken'),
    );
  });
});

describe('faults', () => {
  test('a password may be added although the connection is lost', async () => {
    sandbox.graph.faults.add({ effect: 'act-then-die', operation: 'application.addPassword', times: 1 });
    await expect(graph.addPassword({ displayName: 'lost' })).rejects.toThrow();
    expect(await graph.passwords()).toMatchObject([{}, { displayName: 'lost' }]);
  });

  test('lists may be older than the last change', async () => {
    await graph.addPassword();
    offsetMs = 1_000;
    sandbox.graph.faults.add({ effect: 'stale-list', ms: 2_000, operation: 'application.GetApplication' });
    expect(await graph.passwords()).toHaveLength(1);
    offsetMs = 3_000;
    expect(await graph.passwords()).toHaveLength(2);
  });

  test('errors have the form of the real ones', async () => {
    sandbox.graph.faults.add({
      effect: 'error',
      status: 409,
      code: 'Directory_ConcurrencyViolation',
      times: 1,
    });
    await expect(graph.addPassword()).rejects.toEqual(errorWith(409, 'Directory_ConcurrencyViolation'));
    sandbox.graph.faults.add({ effect: 'throttle', retryAfterSeconds: 1, times: 1 });
    expect(await graph.passwords()).toHaveLength(1);
    expect(sandbox.graph.calls().map(({ outcome }) => outcome)).toEqual([409, 429, 200]);
  });
});
