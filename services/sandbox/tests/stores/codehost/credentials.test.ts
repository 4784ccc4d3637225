import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createAppAuth } from '@octokit/auth-app';
import { SignJWT } from 'jose';
import type { CodehostOptions } from '../../../src/index.ts';
import { type CodehostHarness, startCodehost, web } from './codehost-harness.ts';

const started: CodehostHarness[] = [];
afterEach(async () => {
  for (const harness of started.splice(0)) await harness.stop();
});

async function start(options: CodehostOptions = {}, over: Parameters<typeof startCodehost>[1] = {}) {
  const harness = await startCodehost(options, over);
  started.push(harness);
  return harness;
}

/** The provider's own client, which authenticates as the installation. */
const installed = ({ sandbox, clientWith }: CodehostHarness, over: object = {}) => {
  const { appId, installationId } = sandbox.credentials.codehost;
  const { privateKey } = sandbox.codehost.generatedCredentials();
  const auth = { appId: Number(appId), installationId: Number(installationId), privateKey, ...over };
  return clientWith({ authStrategy: createAppAuth, auth });
};

test('a wrong token is refused', async () => {
  const { clientWith } = await start();
  const list = clientWith({ auth: 'wrong' }).rest.actions.listRepoSecrets(web);
  await expect(list).rejects.toMatchObject({ status: 401 });
});

describe('codehost 10: an application', () => {
  test('signs a JWT, and gets a token of its installation until that expires', async () => {
    let ahead = 0;
    const harness = await start({ tokenSeconds: 60 }, { clock: () => Date.now() + ahead });
    const client = installed(harness);
    expect((await client.rest.actions.listRepoSecrets(web)).data.total_count).toBe(0);
    expect(harness.sandbox.codehost.calls().map(({ operation, caller }) => [operation, caller])).toEqual([
      ['createInstallationAccessToken', 'application'],
      ['listRepoSecrets', 'installation'],
    ]);
    ahead = 60_000;
    const { token } = (await client.auth({ type: 'installation' })) as { token: string };
    const list = harness.clientWith({ auth: token }).rest.actions.listRepoSecrets(web);
    await expect(list).rejects.toMatchObject({ status: 401 });
  });

  test.each([
    [{ iat: 60 }, /'Issued at' claim/],
    [{ exp: -10 }, /'Expiration time' claim \('exp'\) must be/],
    [{ exp: 660 }, /too far in the future/],
    [{ iss: '1' }, /'Issuer' claim/],
  ])(
    'with the claims %j is refused',
    async (claims: { iat?: number; exp?: number; iss?: string }, reason) => {
      const { sandbox, clientWith } = await start();
      const { appId } = sandbox.credentials.codehost;
      const { privateKey } = sandbox.codehost.generatedCredentials();
      const now = Math.floor(Date.now() / 1000);
      const jwt = await new SignJWT({})
        .setProtectedHeader({ alg: 'RS256' })
        .setIssuer(claims.iss ?? appId)
        .setIssuedAt(now + (claims.iat ?? -60))
        .setExpirationTime(now + (claims.exp ?? 500))
        .sign(createPrivateKey(privateKey));
      await expect(clientWith({ auth: jwt }).request('GET /app')).rejects.toMatchObject({
        status: 401,
        message: expect.stringMatching(reason),
      });
    },
  );

  test('that is suspended cannot use the token that it has', async () => {
    const harness = await start();
    const client = installed(harness);
    await client.rest.actions.listRepoSecrets(web);
    harness.sandbox.codehost.suspend(true);
    const refused = { status: 403, message: expect.stringContaining('This installation has been suspended') };
    await expect(client.rest.actions.listRepoSecrets(web)).rejects.toMatchObject(refused);
    harness.sandbox.codehost.suspend(false);
    await client.rest.actions.listRepoSecrets(web);
  });

  test('that is suspended, or not installed, gets no token', async () => {
    const harness = await start();
    harness.sandbox.codehost.suspend(true);
    await expect(installed(harness).rest.actions.listRepoSecrets(web)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('This installation has been suspended'),
    });
    const elsewhere = installed(harness, { installationId: 1 });
    await expect(elsewhere.rest.actions.listRepoSecrets(web)).rejects.toMatchObject({ status: 404 });
  });
});

describe('codehost 5: limits of a token', () => {
  test('the requests of an hour are counted in the headers, and then refused', async () => {
    const { octokit } = await start({ limits: { perHour: 2 } });
    const list = () => octokit.rest.actions.listRepoSecrets(web);
    expect((await list()).headers['x-ratelimit-remaining']).toBe('1');
    await list();
    await expect(list()).rejects.toMatchObject({
      status: 403,
      response: { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': expect.any(String) } },
    });
  });

  test('points of a minute: a write costs as much as five reads', async () => {
    const { octokit, write } = await start({ limits: { pointsPerMinute: 8 } });
    await write('A', 'x'); // 1 for the key, 5 for the write
    await octokit.rest.actions.listRepoSecrets(web);
    await expect(write('B', 'x')).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('secondary rate limit'),
      response: { headers: { 'retry-after': '60' } },
    });
  });

  test('writes in parallel', async () => {
    const { sandbox, write } = await start({ limits: { concurrentWrites: 1 } });
    sandbox.codehost.faults.add({ effect: 'slow', ms: 1_000, operation: 'createOrUpdateRepoSecret' });
    const outcomes = await Promise.allSettled([write('A', 'x'), write('B', 'x')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await write('C', 'x')).toBe(201);
  });
});

test('secrets, keys and the application survive a restart; a reset discards secrets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codehost-'));
  const dataFile = join(folder, 'sandbox.jsonl');
  const first = await startCodehost({}, { dataFile });
  await first.write('KEPT', 'x');
  await first.octokit.rest.repos.update({ ...web, name: 'site' });
  const { privateKey } = first.sandbox.codehost.generatedCredentials();
  const { data: key } = await first.octokit.rest.actions.getRepoPublicKey(web);
  await first.stop();
  const second = await start({}, { dataFile });
  expect(second.sandbox.codehost.secrets()).toMatchObject([{ name: 'KEPT', value: 'x' }]);
  expect(second.sandbox.codehost.generatedCredentials().privateKey).toBe(privateKey);
  expect((await second.octokit.rest.actions.getRepoPublicKey(web)).data).toEqual(key);
  second.sandbox.reset();
  expect(second.sandbox.codehost.secrets()).toEqual([]);
  expect((await second.octokit.rest.repos.get(web)).data.name).toBe('web');
  rmSync(folder, { recursive: true });
});
