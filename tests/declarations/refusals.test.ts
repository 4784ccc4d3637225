import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { nextAttempt } from '../../libs/sync-worker/src/limits/retry-policy.ts';
import type { Refusal } from '../../libs/sync-worker/src/responses/refusal.ts';

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

const rowOf = (refusal: Refusal): string =>
  `| [${errorOf(refusal)}](${refusal.source}) | ${refusal.sentence} | ${refusal.remedy ?? ''} | ${retriesOf(refusal.kind)} |`;

const header = '| Error | `last_error` says | Remedy | Tried again |';

/** The rows of each table of a page that has this header, whatever they contain. */
function rowsOf(page: string): string[] {
  const [, ...tables] = page.split(`${header}\n`);
  return tables.flatMap((table) => {
    const [, ...rows] = table.split('\n');
    return rows.slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    );
  });
}

describe.each(Object.keys(destinationTypes))('the refusals of %s', (type) => {
  test('are those on its page, in the same order, each with its source, what it says and when it is tried again', async () => {
    const folder = type.toLowerCase();
    const file = `../../services/sync-worker-${folder}/src/api/refusals.ts`;
    const { refusals } = (await import(file)) as { refusals: readonly Refusal[] };
    expect(refusals).not.toEqual([]);
    expect(rowsOf(readFileSync(`docs/destinations/${folder}.md`, 'utf8'))).toEqual(refusals.map(rowOf));
  });
});
