import { expect, test } from '@jest/globals';
import { Problem, type ProblemKind } from '@secrets/domain';
import type { InternalClient } from '@secrets/http';
import { identityTokens, noIdentityTokens } from './identity-tokens.ts';

const destination = { name: 'main', namespacePath: 'team' };
const request = { audience: 'api://exchange', ttlSeconds: 600 };

const clientThat = (answer: () => unknown) => {
  const calls: unknown[][] = [];
  const client: InternalClient = {
    call: async (...call) => {
      calls.push(call);
      return answer();
    },
    close: async () => {},
  };
  return { client, calls };
};

test('a token is requested for the type of the worker, with name and namespace of the destination', async () => {
  const { client, calls } = clientThat(() => ({ token: 'jwt' }));
  expect(await identityTokens(client, 'cloudB-kv').issue(destination, request)).toBe('jwt');
  expect(calls).toEqual([
    [
      'POST',
      '/v1/internal/identity-tokens/cloudB-kv',
      expect.objectContaining({ displayName: 'sync-worker-cloudb-kv', policies: [] }),
      { namespace_path: 'team', name: 'main', audience: 'api://exchange', ttl_seconds: 600 },
    ],
  ]);
});

test.each<[ProblemKind, string]>([
  ['unavailable', 'unavailable'],
  ['bad_gateway', 'unavailable'],
  ['not_found', 'unauthenticated'],
  ['forbidden', 'unauthenticated'],
  ['invalid', 'unauthenticated'],
])('the problem %s becomes the fault %s, with the sentence of login', async (kind, fault) => {
  const { client } = clientThat(() => {
    throw new Problem(kind, 'a sentence');
  });
  await expect(identityTokens(client, 'cloudB-kv').issue(destination, request)).rejects.toMatchObject({
    kind: fault,
    message: 'requesting an identity token: a sentence',
  });
});

test('a worker without a key has none', async () => {
  await expect(noIdentityTokens.issue(destination, request)).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: expect.stringContaining('INTERNAL_KEY_FILE'),
  });
});
