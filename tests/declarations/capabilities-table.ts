import type { Access, EndpointDescription } from '../../libs/http/src/index.ts';

type Endpoints = readonly EndpointDescription[];

/** The rows of the table in `docs/api.md` that list paths, by what their second cell says. */
const rows: readonly [says: RegExp, paths: (endpoints: Endpoints, page: string) => string[]][] = [
  [
    /^`create` if/,
    (endpoints, page) => pathsOf(endpoints.filter((one) => creates(one) && !onlyCreates(one, page))),
  ],
  [/^`sudo`/, (endpoints) => needingSudo(endpoints)],
  [/any valid token/, (endpoints) => pathsOf(having(endpoints, 'anyToken'))],
  [/no token needed/, (endpoints) => pathsOf(having(endpoints, 'open', 'isLogin'))],
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
