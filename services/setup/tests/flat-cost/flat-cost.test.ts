import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { isLongRun } from '../../../../tests/harness/run-size.ts';
import { roleOf } from '../../src/database-roles.ts';
import { callSitesInSources, foreignStatements, functionAt } from './call-sites.ts';
import type { Case } from './cases/cases.ts';
import { clockCases } from './cases/clock-cases.ts';
import { entryCases, standaloneCases, statusCases } from './cases/entry-cases.ts';
import { importCases } from './cases/import-cases.ts';
import { limitCases } from './cases/limit-cases.ts';
import { loginCases } from './cases/login-cases.ts';
import { loginSettingsCases } from './cases/login-settings-cases.ts';
import { ruleCases } from './cases/rule-cases.ts';
import { sealCases } from './cases/seal-cases.ts';
import { secretsCases } from './cases/secrets-cases.ts';
import { syncControlCases } from './cases/sync-control-cases.ts';
import { placeCases, workerCases } from './cases/worker-cases.ts';
import { counted, notExecuted } from './exceptions.ts';
import { type Measured, measure, planOf } from './measured-db.ts';
import { analysed, emptied, openSeededDb, restored, type State } from './seeded-db.ts';

// A million entries in 1,000 destinations, or a quarter of them in a short run: no statement may touch more of them than it
// returns or changes.
const cases: Case[] = [
  ...entryCases,
  ...statusCases,
  ...standaloneCases,
  ...workerCases,
  ...placeCases,
  ...syncControlCases,
  ...secretsCases,
  ...loginCases,
  ...importCases,
  ...ruleCases,
  ...limitCases,
  ...loginSettingsCases,
  ...sealCases,
  ...clockCases,
];

interface Executed extends Measured {
  role: string | undefined;
}

/** With `--long`, seeding takes about a minute, and much longer on a busy machine. */
const hookMs = 900_000;

const executed: Executed[] = [];
let db: Db;
beforeAll(async () => {
  db = await openSeededDb();
}, hookMs);
afterAll(() => db?.close());

const inState = ({ name, enter, isLong }: State) =>
  (isLong && !isLongRun ? describe.skip : describe)(name, () => {
    beforeAll(() => enter(db), hookMs);

    test.each(cases)('$name costs the same in a large database', async ({ service, run }) => {
      const role = service && roleOf(service);
      let measured = await measure(db, role, run);
      // The first time, the statements are also planned, which reads the tables, too.
      if (measured.some(isTooExpensive)) measured = await measure(db, role, run);
      executed.push(...measured.map((one) => ({ ...one, role })));
      expect(measured.length).toBeGreaterThan(0);
      expect(await explain(measured.filter(isTooExpensive).map((one) => ({ ...one, role })))).toEqual([]);
    });
  });

/** A row costs up to 55 pages: its own, and a few of each of a dozen indexes, or of each table that is joined. */
function isTooExpensive({ site, pages, scanned, returned, written }: Measured): boolean {
  const rows = returned + written;
  const more = counted[functionAt(site)] ?? 0;
  return pages > 150 + 55 * rows + 2 * more || scanned > 100 + 10 * rows + 2 * more;
}

const explain = (offenders: readonly Executed[]) =>
  Promise.all(
    offenders.map(async ({ site, role, text, ...cost }) => ({
      statement: `${functionAt(site)} (${site})`,
      ...cost,
      plan: (await planOf(db, role, text)).split('\n'),
    })),
  );

inState(restored);
inState(analysed);

// Such a plan costs little only as long as the rows that it looks for happen to be at the beginning of the table. Only
// statistics let the planner choose between it and an index, so the tables are analysed. In a short run, this is all that
// is compared with statistics.
test('no statement scans a large table sequentially', async () => {
  if (!isLongRun) await analysed.enter(db);
  const scan =
    /Seq Scan on (entries|events|outcome_minutes|associations|secrets|versions|outbox|tokens|entities|entity_aliases|auth_mounts|cloudb_roles|jwt_roles|kubernetes_roles|used_jwts|cloudb_rotations|policies|namespaces|wrapped_responses|wrapped_space)\b/;
  const distinct = [...new Map(executed.map((one) => [`${one.role} ${one.text}`, one])).values()];
  const explained = [];
  for (const one of distinct) explained.push(...(await explain([one])));
  expect(explained.filter(({ plan }) => plan.some((line) => scan.test(line)))).toEqual([]);
});

inState(emptied);

test('every statement on the schemas of the services is executed by a case, or is an exception', () => {
  const sites = new Set(executed.map(({ site }) => site));
  const missing = callSitesInSources().filter((site) => !sites.has(site));
  const names = missing
    .filter((site) => notExecuted[site.split(':')[0]!] === undefined)
    .map((site) => `${functionAt(site)} (${site})`);
  expect(names).toEqual([]);
  expect(missing.length).toBe(Object.keys(notExecuted).length); // no exception is obsolete, or hides another statement
});

test('only these packages have statements on the schemas of the services', () => {
  expect(foreignStatements()).toEqual([]);
});
