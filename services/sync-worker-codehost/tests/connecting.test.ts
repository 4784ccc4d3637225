import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { codehost } from '@secrets/destinations';
import { seal } from '@secrets/seal';
import { createEgressGuard, type Egress, type EgressGuard, ScopeMemory } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { endpointFetch } from '../src/api/endpoint-fetch.ts';
import { codehostDriver } from '../src/driver.ts';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const signal = () => AbortSignal.timeout(60_000);
const newScope = () => new ScopeMemory(null, async (id) => id);
const newRequest = () => putRequest(driver.harness.freshName(), 'x');

describe('connecting', () => {
  test('common: a wrong token is unauthenticated, after one call', async () => {
    const wrong = driver.keep(
      await driver.harness.connect({ credentials: seal({ access_token: 'canary' }) }),
    );
    driver.harness.allCalls();
    await expect(put(newRequest(), wrong)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringMatching(
        /^get \/repos\/acme\/web: the credentials were not accepted \(BadCredentials\)/,
      ),
    });
    expect(driver.harness.allCalls()).toEqual(['getRepository']);
  });

  test('a destination without credentials is unauthenticated', async () => {
    await expect(driver.harness.connect({ credentials: seal({}) })).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  test.each([
    ['https://git.internal.example', 'git.internal.example'],
    ['https://10.0.0.5', '10.0.0.5'],
  ])('common: the egress guard refuses the private host %s', async (enterprise_url, host) => {
    const egress = createEgressGuard({ resolve: async () => ['10.0.0.5'] });
    const inward = await driver.harness.connectWith({ settings: { enterprise_url } }, egress);
    driver.keep(inward);
    await expect(put(newRequest(), inward)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(`connection to ${host} refused`),
    });
  });

  test("common: the egress guard refuses the provider's name if it resolves to a private address", async () => {
    const egress = createEgressGuard({ resolve: async () => ['169.254.169.254'] });
    const connected = await codehostDriver().connect(
      {
        ...{ id: 'd', type: 'codehost', name: 'main', namespacePath: 'root' },
        credentials: seal({ access_token: 'canary' }),
        settings: { ...codehost.defaults, repository_owner: 'acme', repository_name: 'web' },
      },
      {
        log: undefined as never,
        egress,
        prefix: 'secrets',
        scope: newScope(),
        identityToken: async () => 'none',
        remembered: async () => [],
      },
    );
    driver.keep(connected);
    await expect(put(newRequest(), connected)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('connection to api.github.com refused'),
    });
  });

  test('a self-hosted server has its API below /api/v3, and the operator permits nothing for it', async () => {
    const urls: string[] = [];
    const endpoints: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      urls.push(String(url));
      return new Response('{}', { status: 500 });
    };
    const egress: EgressGuard = {
      forDestination(_settings, endpoint) {
        endpoints.push(endpoint);
        return { fetch, close() {} } as unknown as Egress;
      },
    };
    const settings = { enterprise_url: 'https://git.example.com:8443' };
    const connected = await driver.harness.connectWith({ settings }, egress);
    await expect(put(newRequest(), connected)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(urls).toEqual(['https://git.example.com:8443/api/v3/repos/acme/web']);
    expect(endpoints).toEqual([undefined]);
  });
});

describe('codehost 8: a repository', () => {
  test('that cannot be found may also be one without permission: the message mentions both', async () => {
    const hidden = await connect({ repository_owner: 'acme', repository_name: 'hidden' });
    await expect(put(newRequest(), hidden)).rejects.toMatchObject({
      kind: 'rejected',
      message:
        'the repository acme/hidden does not exist, or the credentials have no permission for its secrets (NotFound)',
    });
  });

  test('that was renamed is followed by reads, writes and removals', async () => {
    const own = await startHarness();
    const connected = await own.connect();
    const request = putRequest(own.freshName(), 'one');
    const { remote } = await connected.put(request, signal());
    await own.stranger.rest.repos.update({ owner: 'acme', repo: 'web', name: 'site' });
    const value = () => own.sandbox.codehost.secrets().map((secret) => secret.value);
    const next = { ...request, ...newValue(request, 'two') };
    const written = await connected.put({ ...next, remote }, signal());
    expect(value()).toEqual(['two']);
    own.calls();
    const known = { ...next, remote: written.remote };
    await connected.put({ ...known, valueChanged: false, verify: true }, signal());
    expect(own.calls()).toEqual(['getRepoSecret']);
    await connected.remove(known, signal());
    expect(value()).toEqual([]);
    await connected.close();
    await own.stop();
  });

  test.each([301, 302, 307, 308])(
    'that is redirected with %i to another host is not followed',
    async (status) => {
      let received = 0;
      const other = createServer((_, response) => {
        received += 1;
        response.writeHead(201).end('{}');
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/repos/acme/web`;
      const here = createServer((_, response) => response.writeHead(status, { location: elsewhere }).end());
      await new Promise<void>((resolve) => here.listen(0, '127.0.0.1', resolve));
      const endpointUrl = `http://127.0.0.1:${(here.address() as AddressInfo).port}`;
      const connected = await codehostDriver({ endpointUrl }).connect(
        {
          ...{ id: 'd', type: 'codehost', name: 'main', namespacePath: 'root' },
          credentials: seal({ access_token: 'canary' }),
          settings: { ...codehost.defaults, repository_owner: 'acme', repository_name: 'web' },
        },
        {
          log: undefined as never,
          egress: createEgressGuard({ allow: ['127.0.0.1/32'] }),
          prefix: 'secrets',
          scope: newScope(),
          identityToken: async () => 'none',
          remembered: async () => [],
        },
      );
      const request = newRequest();
      await expect(put(request, connected)).rejects.toMatchObject({ kind: 'unavailable' });
      await expect(
        put({ ...request, remote: { name: request.externalName, writtenAt: null, access: null } }, connected),
      ).rejects.toMatchObject({ kind: 'unavailable' });
      await expect(remove(request.externalName, {}, connected)).rejects.toMatchObject({
        kind: 'unavailable',
      });
      expect(received).toBe(0);
      await connected.close();
      for (const server of [here, other]) {
        server.close();
        server.closeAllConnections();
      }
    },
  );

  test('that redirects to itself is given up', async () => {
    const here = createServer((request, response) =>
      response.writeHead(307, { location: request.url }).end(),
    );
    await new Promise<void>((resolve) => here.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(here.address() as AddressInfo).port}/`;
    const egress = createEgressGuard({}).forDestination({}, url);
    await expect(endpointFetch(url, egress.fetch)(url, { method: 'GET' })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('redirect'),
    });
    egress.close();
    here.close();
    here.closeAllConnections();
  });
});

test('codehost 6: a put of a known secret is a look and one write, so that the lane of its token can pace it', async () => {
  const { next } = await putNew();
  await put(next('two'));
  expect(driver.harness.calls()).toEqual(['getRepoSecret', 'createOrUpdateRepoSecret']);
});
