import { expect, test } from '@jest/globals';
import type { Upstream } from '../upstream/upstream.ts';
import { apiDescription } from './describe-api.ts';
import { localEndpoints } from './local-endpoints.ts';

const describing = (...described: [path: string, verb: string][]): Upstream =>
  ({
    name: 'login',
    fetchOwn: async () => ({
      paths: Object.fromEntries(described.map(([path, verb]) => [path, { [verb]: {} }])),
    }),
  }) as Partial<Upstream> as Upstream;

const local = () => localEndpoints({ documents: {} } as never);

const securityOf = async (path: string, verb: string): Promise<unknown> => {
  const { paths } = await apiDescription([describing([path, verb])], local)();
  return (paths as Record<string, Record<string, { security?: unknown }>>)[path]?.[verb]?.security;
};

test.each([
  ['/v1/auth/{mount}/login', 'post'],
  ['/v1/identity/oidc/plugins/.well-known/keys', 'get'],
  ['/v1/sys/health', 'head'],
  ['/v1/sys/internal/specs/openapi', 'get'],
])('describes that %s needs no token for %s', async (path, verb) => {
  expect(await securityOf(path, verb)).toEqual([]);
});

test.each([
  ['/v1/auth/{mount}/role/{name}', 'post'],
  ['/v1/auth/{mount}/login', 'get'],
  ['/v1/identity/oidc/config', 'get'],
])('describes no exception for %s with %s', async (path, verb) => {
  expect(await securityOf(path, verb)).toBeUndefined();
});

test('is unavailable while a service is', async () => {
  const down = { name: 'login', fetchOwn: () => Promise.reject(new Error('down')) } as Partial<Upstream>;
  await expect(apiDescription([down as Upstream], local)()).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'login is unavailable',
  });
});
