import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { callSitesInSources, functionAt } from '../../services/setup/tests/flat-cost/call-sites.ts';
import { notExecuted } from '../../services/setup/tests/flat-cost/exceptions.ts';

const cases = globSync('services/setup/tests/flat-cost/cases/*-cases.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** The names of the functions at the top level of a file, and their sources. */
const functionsIn = (file: string): [name: string, source: string][] =>
  readFileSync(file, 'utf8')
    .split(/^(?=(?:export )?(?:async )?(?:function|const|class) )/m)
    .flatMap((source) => {
      const name = /^(?:export )?(?:async )?(?:function|const|class) (\w+)/.exec(source)?.[1];
      return name === undefined ? [] : [[name, source]];
    });

const mentions = (source: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(source);

/** Whether a case names a function, or another function of its file or of a neighbour that calls it. */
function isCovered(file: string, name: string, seen: readonly string[] = []): boolean {
  if (mentions(cases, name)) return true;
  const neighbours = globSync(file.replace(/[^/]+$/, '*.ts')).flatMap(functionsIn);
  const callers = neighbours.filter(
    ([caller, source]) => caller !== name && !seen.includes(caller) && mentions(source, name),
  );
  return callers.some(([caller]) => isCovered(file, caller, [...seen, name]));
}

// What the cases execute, and what it costs, services/setup/tests/flat-cost measures.
test('every function with a statement is named in a case of flat-cost, or is an exception', () => {
  const functions = new Set(callSitesInSources().map((site) => `${site.split(':')[0]} ${functionAt(site)}`));
  const uncovered = [...functions].filter((one) => {
    const [file = '', name = ''] = one.split(' ');
    return notExecuted[file] === undefined && !isCovered(file, name);
  });
  expect(uncovered).toEqual([]);
});
