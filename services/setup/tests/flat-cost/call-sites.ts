import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../../..');

/** The packages with statements on the schemas of the services. */
const packages = [
  '{services/{gateway,login,secrets,sync-control,sync-worker-*},libs/{access,clock,seal-rotation,sync-entries,sync-worker}}/src/**/*.ts',
  'services/setup/src/standby/server-state.ts',
];
const isProduct = (file: string): boolean =>
  /^(services|libs)\/[^/]+\/src\//.test(file) && !/\.test\.ts$|\/testing\.ts$|\/conformance\//.test(file);

/** The calls of `query` in the sources, as `file:line`. */
export function callSitesInSources(): string[] {
  return globSync(packages, { cwd: root })
    .filter(isProduct)
    .sort()
    .flatMap((file) =>
      readFileSync(resolve(root, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (/\.(query|script)\s*[<(]/.test(line) ? [`${file}:${index + 1}`] : [])),
    );
}

/** The sources outside these packages that name a table of these schemas in a statement. */
export function foreignStatements(): string[] {
  const own = new Set(globSync(packages, { cwd: root }));
  const statement = /\b(from|join|into|update|table)\s+(login|sync|secrets)\.\w/i;
  return globSync('{libs,services}/*/src/**/*.ts', { cwd: root }).filter(
    (file) => isProduct(file) && !own.has(file) && statement.test(readFileSync(resolve(root, file), 'utf8')),
  );
}

/**
 * Returns the call of `query` that a stack trace leads to, as `file:line`; undefined if it is not in the product but in a test.
 */
export function callSite(stack = ''): string | undefined {
  const caller = stack.split('\n')[2] ?? '';
  const [, path, line] = /(\/[^:()]+):(\d+):\d+\)?$/.exec(caller) ?? [];
  if (path === undefined) throw new Error(`the stack trace has no caller:\n${stack}`);
  const file = relative(root, path);
  return isProduct(file) ? `${file}:${line}` : undefined;
}

/** Returns the name of the function that a `file:line` is in. */
export function functionAt(site: string): string {
  const [file = '', line] = site.split(':');
  const before = readFileSync(resolve(root, file), 'utf8').split('\n').slice(0, Number(line));
  const declarations = before.flatMap(
    (text) => /^(?:export )?(?:async )?(?:function|const) (\w+)/.exec(text) ?? [],
  );
  return declarations.at(-1) ?? site;
}
