import { publicPath } from '@secrets/access';
import { Problem } from '@secrets/domain';
import { openApiComponents, segmentPattern } from '@secrets/http';
import { operations, pathPrefix } from '../request/gateway-request.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { cached } from './cached.ts';
import { withExamples } from './examples.ts';
import {
  auditHashPath,
  auditPath,
  descriptionPath,
  healthPath,
  initPath,
  keyStatusPath,
  leaderPath,
  rotatePath,
  sealStatusPath,
} from './own-paths.ts';

type Operation = Record<string, unknown>;
type Paths = Record<string, Record<string, Operation>>;

const cacheMs = 10_000;

/**
 * Returns the whole API as one OpenAPI 3.1 document, merged from the descriptions of all services and cached for ten seconds.
 * @throws a problem (`unavailable`) if a service does not respond
 */
export const apiDescription = (upstreams: readonly Upstream[]) =>
  cached(cacheMs, async () => {
    const parts = await Promise.all(upstreams.map(pathsOf));
    return document(Object.assign({}, ...parts, ownPaths));
  });

async function pathsOf(upstream: Upstream): Promise<Paths> {
  try {
    return ((await upstream.fetchOwn('/openapi.json')) as { paths?: Paths }).paths ?? {};
  } catch (cause) {
    throw new Problem('unavailable', `${upstream.name} is unavailable`, { cause });
  }
}

const document = (paths: Paths) => ({
  openapi: '3.1.0',
  info: { title: 'Secrets service', version: '1' },
  servers: [{ url: '/' }],
  security: [{ serviceToken: [] }, { bearer: [] }],
  paths: Object.fromEntries(
    Object.entries(paths).map(([path, described]) => [
      path,
      withExamples(path, withSecurity(path, described)),
    ]),
  ),
  components: {
    ...openApiComponents,
    securitySchemes: {
      serviceToken: { type: 'apiKey', in: 'header', name: 'X-Service-Token' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
  },
});

/** Marks the operations of a path that need no token. A parameter such as `{name}` matches like any other segment. */
const withSecurity = (path: string, described: Record<string, Operation>) =>
  Object.fromEntries(
    Object.entries(described).map(([verb, operation]) => [
      verb,
      needsNoToken(verb, path) ? { ...operation, security: [] } : operation,
    ]),
  );

function needsNoToken(verb: string, path: string): boolean {
  const operation = operations[verb.toUpperCase()];
  return operation !== undefined && publicPath(operation, path.slice(pathPrefix.length)) !== undefined;
}

const ownPaths: Paths = {
  [pathPrefix + healthPath]: {
    get: {
      tags: ['gateway'],
      summary: 'Read whether the installation is ready',
      responses: { '200': { description: 'ready' }, '503': { description: 'lists what is unavailable' } },
    },
    head: {
      tags: ['gateway'],
      summary: 'Read the same status without a body',
      responses: { '200': { description: 'ready' }, '503': { description: 'something is unavailable' } },
    },
  },
  ...Object.fromEntries(
    [
      [sealStatusPath, 'Read the state of the seal, which is always open'],
      [leaderPath, 'Read the state of the standbys, of which there are none'],
      [initPath, 'Read whether the installation is initialized'],
    ].map(([path, summary]) => [
      pathPrefix + path,
      { get: { tags: ['gateway'], summary, responses: { '200': { description: 'the state' } } } },
    ]),
  ),
  [pathPrefix + descriptionPath]: {
    get: {
      tags: ['gateway'],
      summary: 'Read this description',
      responses: { '200': { description: 'an OpenAPI 3.1 document' } },
    },
  },
  [pathPrefix + auditPath]: {
    get: {
      tags: ['gateway'],
      summary: 'List the devices of the audit log',
      responses: { '200': { description: 'the devices by name' } },
    },
  },
  [pathPrefix + keyStatusPath]: {
    get: {
      tags: ['gateway'],
      summary: 'Read which seal keys are in use, and the progress of their rotation',
      responses: { '200': { description: 'the keys of each service' } },
    },
  },
  [pathPrefix + rotatePath]: {
    post: {
      tags: ['gateway'],
      summary: 'Encrypt everything with the current seal keys, in the background',
      responses: { '200': { description: 'the keys of each service' } },
    },
  },
  [`${pathPrefix}${auditHashPath}/{device}`]: {
    post: {
      tags: ['gateway'],
      summary: 'Hash a token or an accessor as it appears in the audit log',
      parameters: [
        { name: 'device', in: 'path', required: true, schema: { type: 'string', pattern: segmentPattern } },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
          },
        },
      },
      responses: { '200': { description: 'the hash' } },
    },
  },
};
