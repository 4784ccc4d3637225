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
  const flags = (['isOwn', 'isAdministrative', 'receivesToken', 'takesWrappingToken'] as const).filter(
    (property) => having(endpoints, property).length > 0,
  );
  const lists = (['open', 'isLogin', 'anyToken', 'tokenOptional', 'needsSudo'] as const)
    .map((property) => [property, having(endpoints, property)] as const)
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

type Endpoints = readonly EndpointDescription[];

/** The rows of the table in `docs/api.md` that list paths, by what their second cell says. */
const rows: readonly [says: RegExp, paths: (endpoints: Endpoints, page: string) => string[]][] = [
  [
    /^`create` if/,
    (endpoints, page) => pathsOf(endpoints.filter((one) => creates(one) && !onlyCreates(one, page))),
  ],
  [/^`sudo`/, (endpoints) => needingSudo(endpoints)],
  [/any valid token/, (endpoints) => pathsOf(having(endpoints, 'anyToken'))],
  [/no token needed/, (endpoints) => pathsOf(having(endpoints, 'open', 'isLogin', 'tokenOptional'))],
];

/** Lists the paths of the capabilities as the endpoints declare them. Everything else on the page remains. */
export const withDeclaredPaths = (page: string, endpoints: Endpoints): string =>
  page
    .split('\n')
    .map((line) => {
      const [first = '', says = '', ...rest] = line.split(' | ');
      const paths = rows.find(([expected]) => expected.test(says))?.[1];
      if (paths === undefined || rest.length > 0) return line;
      return `${first.slice(0, first.indexOf('`'))}${paths(endpoints, page).join(', ')} | ${says}`;
    })
    .join('\n');

const creates = ({ method, needs }: EndpointDescription): boolean =>
  method === 'post' && needs === 'create or update';

/** Whether the page says that a POST never changes an object, which only its handler knows. */
const onlyCreates = (endpoint: EndpointDescription, page: string): boolean => {
  const row = page.split('\n').find((line) => line.includes(' | `create` or `update` |')) ?? '';
  return row.includes(named(endpoint));
};

const having = (endpoints: Endpoints, ...properties: (keyof Access)[]) =>
  endpoints.filter(({ access }) => properties.some((property) => access?.[property]));

/** Those with `sudo` for every operation, then those with it for some, which are named. */
function needingSudo(endpoints: Endpoints): string[] {
  const byPath = [...Map.groupBy(endpoints, named)].map(([path, all]) => {
    const methods = having(all, 'needsSudo').map(({ method }) => method.toUpperCase());
    return { path, methods, isWhole: methods.length === all.length };
  });
  return [
    ...byPath.filter(({ isWhole }) => isWhole).map(({ path }) => path),
    ...byPath
      .filter(({ isWhole, methods }) => !isWhole && methods.length > 0)
      .map(({ path, methods }) => `${methods.join(' and ')} of ${path}`),
  ];
}

const pathsOf = (endpoints: Endpoints): string[] => [...new Set(endpoints.map(named))];

/** The path as pages write it; all types of destinations have one. */
const named = ({ path }: EndpointDescription): string =>
  `\`${path
    .slice(1)
    .replace(/[:*](\w+)/g, '<$1>')
    .replace(/^(sys\/sync\/destinations)\/[^/<]+\/(?=<)/, '$1/<type>/')}\``;
