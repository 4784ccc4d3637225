import type { Operation } from '../../libs/access/src/paths/operation.ts';
import type { DeclaredPath } from '../../libs/access/src/paths/path-rules.ts';
import {
  type Access,
  type Endpoint,
  type EndpointDescription,
  type Method,
  otherNamesIn,
} from '../../libs/http/src/index.ts';

const operations: Record<Method, Operation> = {
  get: 'read',
  head: 'read',
  list: 'list',
  post: 'create-or-update',
  patch: 'patch',
  delete: 'delete',
};

/** The endpoints that clients can reach, as they are described. */
export const publicEndpoints = (endpoints: readonly Endpoint[]): EndpointDescription[] =>
  endpoints
    .filter(({ from }) => from === undefined)
    .flatMap(({ describedAs, ...endpoint }): EndpointDescription[] =>
      (describedAs ?? [endpoint]).map((described) => ({ access: endpoint.access ?? {}, ...described })),
    );

/**
 * Returns the rules that the endpoints of each service declare. Paths below mounts have none: they belong to secrets,
 * and the gateway cannot tell them from each other.
 */
export const declaredRules = (services: Record<DeclaredPath['owner'], readonly Endpoint[]>): DeclaredPath[] =>
  Object.entries(services).flatMap(([owner, endpoints]) => {
    const outsideMounts = publicEndpoints(endpoints).filter(({ path }) => /^\/\w/.test(path));
    const byPath = Map.groupBy(outsideMounts, ({ path }) => path);
    return [...byPath].map(([path, ofPath]) => ruleOf(owner as DeclaredPath['owner'], path, ofPath));
  });

function ruleOf(
  owner: DeclaredPath['owner'],
  path: string,
  endpoints: readonly EndpointDescription[],
): DeclaredPath {
  const having = (property: keyof Access) => endpoints.filter(({ access }) => access?.[property]);
  const flags = (
    ['isLogin', 'isOwn', 'isAdministrative', 'receivesToken', 'takesWrappingToken'] as const
  ).filter((property) => having(property).length > 0);
  const lists = (['open', 'anyToken', 'needsSudo'] as const)
    .map((property) => [property, having(property)] as const)
    .filter(([, found]) => found.length > 0)
    .map(([property, found]) => [
      property,
      property === 'needsSudo' && found.length === endpoints.length ? true : operationsOf(found),
    ]);
  const otherNames = Object.assign({}, ...endpoints.map(({ body }) => otherNamesIn(body)));
  return {
    path: path.slice(1).replace(/:\w+/g, '+').replace(/\*\w+/g, '**'),
    owner,
    ...Object.fromEntries(lists),
    ...Object.fromEntries(flags.map((property) => [property, true])),
    ...(Object.keys(otherNames).length > 0 && { otherNames }),
  };
}

const operationsOf = (endpoints: readonly EndpointDescription[]): Operation[] => [
  ...new Set(endpoints.map(({ method }) => operations[method])),
];
