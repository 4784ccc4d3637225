import { invalid, Problem } from '@secrets/domain';
import { type MatchFunction, match } from 'path-to-regexp';
import type { Endpoint, Method } from '../endpoint.ts';
import { byPrecedence } from './path-precedence.ts';

/** Part of a request that determines its route. */
export interface RequestLine {
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  method: string;
  /** With `/v1`, percent-encoded. */
  path: string;
  /** Whether the query asks for a list. */
  isList: boolean;
}

/** The endpoint that serves a request, and the parameters in its path. A wildcard is one string. */
export interface Route {
  endpoint: Endpoint;
  params: Record<string, string>;
}

const verbs: Record<Method, readonly string[]> = {
  get: ['GET'],
  head: ['HEAD'],
  list: ['GET'],
  post: ['POST', 'PUT'],
  patch: ['PATCH'],
  delete: ['DELETE'],
};

type Params = Partial<Record<string, string | string[]>>;

/** A path, and its endpoints. */
interface Candidate {
  path: string;
  matchPath: MatchFunction<Params>;
  endpoints: readonly Endpoint[];
}

/** Finds the candidates for a path, without matching the path with those that begin with another literal. */
type Candidates = (path: string) => readonly Candidate[];

/**
 * Prepares the endpoints of a service. Their order does not matter. The function that it returns finds the endpoint of a request.
 * @throws a problem: `method_not_allowed` for a path that exists with other methods, `not_found`, `invalid` for invalid
 *   percent-encoding
 */
export function routeTable(endpoints: readonly Endpoint[]): (line: RequestLine) => Route {
  // The 405 of a declared path precedes an endpoint that matches every path.
  const groups = [
    candidates(endpoints.filter(({ path }) => !matchesEveryPath(path))),
    candidates(endpoints.filter(({ path }) => matchesEveryPath(path))),
  ];
  return (line) => {
    for (const group of groups) {
      const route = findIn(group, line);
      if (route !== undefined) return route;
    }
    throw new Problem('not_found', 'no such path');
  };
}

const matchesEveryPath = (path: string): boolean => /^\/\*\w+$/.test(path);

function candidates(endpoints: readonly Endpoint[]): Candidates {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const all = [...byPath].sort(([a], [b]) => byPrecedence(a, b)).map(candidate);
  const literals = new Set(all.map(({ path }) => firstSegment(path)).filter(isLiteral));
  const beginningWith = (literal: string | undefined) =>
    all.filter(({ path }) => firstSegment(path) === literal || !isLiteral(firstSegment(path)));
  const byLiteral = new Map([...literals].map((literal) => [literal, beginningWith(literal)]));
  const others = beginningWith(undefined);
  return (path) => byLiteral.get(firstSegment(path)) ?? others;
}

const candidate = ([path, endpoints]: [string, readonly Endpoint[]]): Candidate => ({
  path,
  matchPath: match<Params>(path, { sensitive: true }),
  endpoints,
});

function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return path.slice(1, end < 0 ? undefined : end);
}

const isLiteral = (segment: string): boolean => !/^[:*]/.test(segment);

function findIn(group: Candidates, line: RequestLine): Route | undefined {
  const path = line.path.slice('/v1'.length);
  let refused: Candidate | undefined;
  for (const one of group(path)) {
    const params = paramsOf(one, path);
    if (params === undefined) continue;
    const endpoint = one.endpoints.find((other) => serves(other, line));
    if (endpoint !== undefined) return { endpoint, params };
    refused ??= one;
  }
  if (refused !== undefined) throw methodNotAllowed(refused.endpoints.map(({ method }) => method));
  return undefined;
}

/** The parameters of a path that matches, percent-decoded. */
function paramsOf({ matchPath }: Candidate, path: string): Record<string, string> | undefined {
  try {
    const matched = matchPath(path);
    return matched === false ? undefined : joinedParams(matched.params);
  } catch (error) {
    throw error instanceof URIError ? invalid('the path has invalid percent-encoding') : error;
  }
}

/** A wildcard (`*path`) is split into segments; handlers get one string. */
const joinedParams = (params: Params): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value = '']) => [
      name,
      Array.isArray(value) ? value.join('/') : value,
    ]),
  );

/** A policy may grant `list` without `read`: a request authorized as one is never served as the other. */
const serves = (endpoint: Endpoint, { method, isList }: RequestLine): boolean =>
  verbs[endpoint.method].includes(method) && (method !== 'GET' || (endpoint.method === 'list') === isList);

/** The problem of an unsupported verb on a path with these methods. */
export function methodNotAllowed(methods: readonly Method[]): Problem {
  const supported = methods.flatMap((method): readonly string[] =>
    method === 'list' ? ['LIST'] : verbs[method],
  );
  return new Problem('method_not_allowed', 'this path does not support that method', {
    allowed: [...new Set(supported)],
  });
}
