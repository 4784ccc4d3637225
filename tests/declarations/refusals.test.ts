import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { nextAttempt } from '../../libs/sync-worker/src/limits/retry-policy.ts';
import type { Refusal } from '../../libs/sync-worker/src/responses/refusal.ts';

const fileOf = (type: string) => `services/sync-worker-${type.toLowerCase()}/src/api/refusals.ts`;
const types = Object.keys(destinationTypes).filter((type) => existsSync(fileOf(type)));

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

describe.each(types)('the refusals of %s', (type) => {
  test('are those on its page, in the same order, each with its source, what it says and when it is tried again', async () => {
    const { refusals } = (await import(`../../${fileOf(type)}`)) as { refusals: readonly Refusal[] };
    const page = readFileSync(`docs/destinations/${type.toLowerCase()}.md`, 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| [') && line.includes('](https://'));
    expect(rows).toEqual(refusals.map(rowOf));
  });
});
