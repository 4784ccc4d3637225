import type { Sql } from '@secrets/db';
import { advanceClock, type ClockSchema, restartClock } from '../../../../../libs/clock/src/clock-row.ts';
import { type DeadlineTable, pullBack, readPage } from '../../../../../libs/clock/src/deadlines.ts';
import { deadlines as inLogin } from '../../../../login/src/deadlines.ts';
import { deadlines as inSecrets } from '../../../../secrets/src/queries/deadlines.ts';
import { deadlines as inSync } from '../../../../sync-control/src/queries/deadlines.ts';
import { type Case, casesOf } from './cases.ts';

/** The second page of a table: its rows with a time in the future, and at least one row. */
async function page(sql: Sql, table: DeadlineTable): Promise<void> {
  const first = await readPage(sql, table, undefined);
  const second = await readPage(sql, table, first.at(-1)?.key);
  const rows = second.length > 0 ? second : first;
  const ahead = rows.filter(({ isAhead }) => isAhead);
  const keys = [...rows.slice(0, 1), ...ahead].map(({ key }) => key);
  await pullBack(sql, table, keys, { skipLocked: true });
  await pullBack(sql, table, keys.slice(0, 1), { skipLocked: false });
}

const casesIn = (
  service: 'login' | 'secrets' | 'sync-control',
  schema: ClockSchema,
  tables: readonly DeadlineTable[],
): Case[] =>
  casesOf(service, {
    [`recording the time of ${schema}`]: (db) => advanceClock(db, schema),
    [`recording the time of ${schema} after the clock was set back`]: (db) =>
      restartClock(db, schema, { seenAt: '-infinity' }),
    ...Object.fromEntries(
      tables.map((table) => [`correcting a page of ${table.name}`, (db: Sql) => page(db, table)]),
    ),
  });

/** The statements in libs/clock. */
export const clockCases: Case[] = [
  ...casesIn('login', 'login', inLogin),
  ...casesIn('secrets', 'secrets', inSecrets),
  ...casesIn('sync-control', 'sync', inSync),
];
