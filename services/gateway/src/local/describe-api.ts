import { publicPath } from '@secrets/access';
import { Problem } from '@secrets/domain';
import { type Endpoint, openApi, openApiComponents } from '@secrets/http';
import { operations, pathPrefix } from '../request/gateway-request.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { cached } from './cached.ts';
import { withExamples } from './examples.ts';
import { productVersion } from './versions.ts';

type Operation = Record<string, unknown>;
type Paths = Record<string, Record<string, Operation>>;

const cacheMs = 10_000;

/**
 * Returns the whole API as one OpenAPI 3.1 document, merged from the descriptions of all services and cached for ten seconds.
 * @throws a problem (`unavailable`) if a service does not respond
 * @param local returns the endpoints of the gateway itself
 */
export const apiDescription = (upstreams: readonly Upstream[], local: () => readonly Endpoint[]) =>
  cached(cacheMs, async () => {
    const parts = await Promise.all(upstreams.map(pathsOf));
    return document(Object.assign({}, ...parts, localPaths(local())));
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
  info: { title: 'Secrets service', version: productVersion },
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

/**
 * The operations of the gateway as clients know them, which are generated from the document: without IDs, and with no
 * more of their parameters than has always been described.
 */
const localPaths = (endpoints: readonly Endpoint[]): Paths =>
  Object.fromEntries(
    Object.entries(openApi('gateway', endpoints).paths).map(([path, described]) => [
      path,
      Object.fromEntries(Object.entries(described).map(([verb, operation]) => [verb, asKnown(operation)])),
    ]),
  );

type Described = ReturnType<typeof openApi>['paths'][string][string];

const asKnown = ({ operationId: _, parameters, tags, summary, ...operation }: Described): Operation => ({
  tags,
  summary,
  ...(parameters.length > 0 && { parameters: parameters.map(withoutLength) }),
  ...operation,
});

const withoutLength = ({ schema, ...parameter }: Described['parameters'][number]) => {
  const { minLength: _, maxLength: __, ...known } = schema as Record<string, unknown>;
  return { ...parameter, schema: known };
};
