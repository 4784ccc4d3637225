import { Problem } from '@secrets/domain';
import { cached } from './cached.ts';
import type { Upstream } from './upstream.ts';

type Operation = Record<string, unknown>;
type Paths = Record<string, Record<string, Operation>>;

const cacheMs = 10_000;

/** The whole API as one OpenAPI 3.1 document, put together from what each service tells of itself. `unavailable` when one does not. */
export const apiDescription = (upstreams: readonly Upstream[]) =>
  cached(cacheMs, async () => {
    const parts = await Promise.all(upstreams.map(pathsOf));
    return document(Object.assign({}, ...parts, ownPaths));
  });

async function pathsOf(upstream: Upstream): Promise<Paths> {
  try {
    return ((await upstream.fetchOwn('/openapi.json')) as { paths?: Paths }).paths ?? {};
  } catch (cause) {
    throw new Problem('unavailable', `${upstream.name} does not answer`, { cause });
  }
}

const document = (paths: Paths) => ({
  openapi: '3.1.0',
  info: { title: 'Secrets service', version: '1' },
  servers: [{ url: '/' }],
  security: [{ serviceToken: [] }, { bearer: [] }],
  paths: Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [path, finished(path, operations)]),
  ),
  components: {
    securitySchemes: {
      serviceToken: { type: 'apiKey', in: 'header', name: 'X-Service-Token' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
  },
});

const open =
  /^\/v1\/(?:auth\/[^/]+\/login|identity\/oidc\/plugins\/\.well-known\/.+|sys\/health|sys\/internal\/specs\/openapi)$/;

const finished = (path: string, operations: Record<string, Operation>) =>
  open.test(path)
    ? Object.fromEntries(
        Object.entries(operations).map(([verb, operation]) => [verb, { ...operation, security: [] }]),
      )
    : operations;

const ownPaths: Paths = {
  '/v1/sys/health': {
    get: {
      tags: ['gateway'],
      summary: 'Tells whether the installation is ready',
      responses: { '200': { description: 'ready' }, '503': { description: 'names what is missing' } },
    },
    head: {
      tags: ['gateway'],
      summary: 'Tells the same by its status alone',
      responses: { '200': { description: 'ready' }, '503': { description: 'something is missing' } },
    },
  },
  '/v1/sys/internal/specs/openapi': {
    get: {
      tags: ['gateway'],
      summary: 'Reads this description',
      responses: { '200': { description: 'an OpenAPI 3.1 document' } },
    },
  },
};
