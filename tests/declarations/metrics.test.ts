import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const read = (file: string) => readFileSync(file, 'utf8');
const sources = globSync('{services,libs}/*/src/**/*.ts').filter(
  (file) => !/\.test\.ts$|^libs\/telemetry\/|\/node_modules\//.test(file),
);

/** A metric as the page of monitoring writes it. */
interface Metric {
  name: string;
  /** Its name with its labels. */
  labelled: string;
  type: string;
  of: string;
}

const declaration = /\.(counter|gauge|histogram)\(\s*'(\w+)',\s*'[^']*'(?:,\s*\[([^\]]*)\])?/g;

const declaredIn = (file: string): Metric[] => {
  const source = read(file);
  const listed = (list: string): string[] =>
    [...list.matchAll(/'(\w+)'|\.\.\.(\w+)/g)].flatMap(([, label, spread]) =>
      label === undefined
        ? listed(new RegExp(`const ${spread} = \\[(.*)\\]`).exec(source)?.[1] ?? '')
        : [label],
    );
  return [...source.matchAll(declaration)].map(([, type = '', name = '', list = '']) => {
    const labels = listed(list).join(',');
    return { name, labelled: labels === '' ? name : `${name}{${labels}}`, type, of: ownerOf(file) };
  });
};

/** Who has the metrics of a library. */
const users: Record<string, string> = {
  access: 'gateway, login, secrets, sync-control',
  clock: 'login, secrets, sync-control',
  http: 'all',
  'key-service': 'all',
  service: 'all',
  'sync-worker': 'workers',
};

const ownerOf = (file: string): string => {
  const name = file.split('/')[1] ?? '';
  return users[name] ?? name;
};

const metrics = sources.flatMap(declaredIn);

test('every metric is declared with its name, its help and its labels in the call', () => {
  const calls = sources.flatMap((file) => [...read(file).matchAll(/\.(counter|gauge|histogram)\(/g)]);
  expect(metrics).toHaveLength(calls.length);
});

test('the page of monitoring has a row for each metric, with its labels, its type and its service', () => {
  const table = read('docs/operations/monitoring.md')
    .split('\n\n')
    .find((part) => part.startsWith('| Metric |'));
  const rows = (table ?? '')
    .split('\n')
    .slice(2)
    .map((row) => row.split(' | ').slice(0, 3).join(' | '));
  const expected = metrics.map(({ labelled, type, of }) => `| \`${labelled}\` | ${type} | ${of}`);
  expect(rows.toSorted()).toEqual(expected.toSorted());
});

test('a test names each metric: of what it counts, or of its alert', () => {
  const tests = [...globSync('{services,libs}/*/{src,tests}/**/*.test.ts'), 'observability/alerts.test.yml'];
  const text = tests.map(read).join('\n');
  expect(metrics.map(({ name }) => name).filter((name) => !text.includes(name))).toEqual([]);
});
