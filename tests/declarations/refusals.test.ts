import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { nextAttempt } from '../../libs/sync-worker/src/limits/retry-policy.ts';
import type { Refusal } from '../../libs/sync-worker/src/responses/refusal.ts';
import { refusalReasons } from '../../services/login/src/auth-methods/cloudb/provider/credentials/token-problem.ts';

/** A number of seconds as a page states it. */
const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`;

/** Returns when an entry is tried again, as a page states it: the first and the longest delay. */
function retriesOf(given: Refusal['kind']): string {
  const mayPass = given === 'rejected_for_now';
  const failed = { kind: given === 'rejected_for_now' ? 'rejected' : given, mayPass } as const;
  const [first, last] = [0, 30].map((attempts) => nextAttempt(failed, attempts, 0));
  return first == null || last == null ? 'no' : `${duration(first)} to ${duration(last)}`;
}

/** The statuses, codes and words by which a refusal is recognised, as a page states them. */
const errorOf = ({ status = [], code = [], text }: Refusal): string =>
  [
    status.join(', '),
    code.map((one) => `\`${one}\``).join(', '),
    text === undefined ? '' : `“${text.source}”`,
  ]
    .filter((part) => part !== '')
    .join(' ');

/** The delays that apply where the cell is empty. */
const usualRetries = '1 min to 1 h';

const rowOf = (refusal: Refusal, link: number): string => {
  const retries = retriesOf(refusal.kind).replace(usualRetries, '');
  return `| [${errorOf(refusal)}][${link}] | ${refusal.sentence} | ${refusal.remedy ?? ''} | ${retries} |`;
};

/** The table of a page, in the order in which refusals are recognised, with its sources below it. */
function tableOf(refusals: readonly Refusal[]): string {
  const sources = [...new Set(refusals.map(({ source }) => source))];
  const rows = refusals.map((refusal) => rowOf(refusal, sources.indexOf(refusal.source) + 1));
  const links = sources.map((source, index) => `[${index + 1}]: ${source}`);
  return [header, '|---|---|---|---|', ...rows, '', ...links, ''].join('\n');
}

const header = '| Error | `last_error` says | Remedy | Tried again |';
const table = /^\| Error \| .*\n(?:\|.*\n)*(?:\n(?:\[\d+\]: .*\n)+)?/gm;

// After a change of refusals: UPDATE_REFUSALS=1 npm test -- --no-rabbitmq tests/declarations/refusals
describe.each(Object.keys(destinationTypes))('the refusals of %s', (type) => {
  const page = `docs/destinations/${type.toLowerCase()}.md`;

  test('are those on its page, in the same order, each with its source, what it says and when it is tried again (written with UPDATE_REFUSALS=1 npm test -- --no-rabbitmq tests/declarations/refusals)', async () => {
    const file = `../../services/sync-worker-${type.toLowerCase()}/src/api/refusals.ts`;
    const { refusals } = (await import(file)) as { refusals: readonly Refusal[] };
    expect(refusals).not.toEqual([]);
    const text = readFileSync(page, 'utf8');
    if (process.env.UPDATE_REFUSALS === '1')
      writeFileSync(
        page,
        text.replace(table, () => tableOf(refusals)),
      );
    expect(readFileSync(page, 'utf8').match(table)).toEqual([tableOf(refusals)]);
  });
});

test('the pages say which delays apply where the cell is empty', () => {
  expect(readFileSync('docs/destinations/README.md', 'utf8')).toContain(usualRetries);
});

test('the codes of the directory for which login has a reason are those on its page, in the same order', () => {
  const page = readFileSync('docs/operations/login.md', 'utf8');
  const rows = [...page.matchAll(/^\| \[`AADSTS(\d+)`\]\[\w+\] \| (.*?) \|/gm)];
  const stated = rows.map(([, code, reason]) => [Number(code), reason]);
  expect(stated).toEqual([...refusalReasons]);
});
