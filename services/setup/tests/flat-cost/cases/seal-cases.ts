import type { Db, Sql } from '@secrets/db';
import { parseKeyRing } from '@secrets/seal';
import { SealRotation } from '@secrets/seal-rotation';
import { silentLogger } from '@secrets/telemetry';
import * as row from '../../../../../libs/seal-rotation/src/rotation-row.ts';
import * as keys from '../../../../../libs/seal-rotation/src/seal-keys.ts';
import {
  lockRows,
  replaceSealed,
  type SealedTable,
  scanRows,
} from '../../../../../libs/seal-rotation/src/sealed-table.ts';
import { sealedTables as inLogin } from '../../../../login/src/sealed-tables.ts';
import { sealedTables as inSecrets } from '../../../../secrets/src/sealed-tables.ts';
import { sealedTables as inSync } from '../../../../sync-control/src/destinations/sealed-tables.ts';
import { type Case, casesOf } from './cases.ts';

const keyRing = parseKeyRing('k1:'.padEnd(67, '0'), 'the test');

/** The second page of a table, of which every row is encrypted again. */
async function page(sql: Sql, table: SealedTable): Promise<void> {
  const first = await scanRows(sql, table, undefined, 200);
  const second = await scanRows(sql, table, first.at(-1)?.key, 200);
  const rows = (second.length > 0 ? second : first).flatMap(({ key, header }) =>
    header === null ? [] : [key],
  );
  await replaceSealed(sql, table, await lockRows(sql, table, rows));
}

const casesIn = (
  service: 'login' | 'secrets' | 'sync-control',
  schema: keys.SealedSchema,
  tables: readonly [SealedTable, ...SealedTable[]],
): Case[] =>
  casesOf(service, {
    ...Object.fromEntries(
      tables.map((table) => [`encrypting a page of ${table.name}`, (db: Sql) => page(db, table)]),
    ),
    [`recording the seal keys of ${schema}`]: (db) => keys.recordSealKeys(db, schema, keyRing),
    [`a rotation of the seal keys of ${schema}`]: async (db) => {
      const [{ name }] = tables;
      await row.beginRotation(db, schema, 'k1', name);
      await row.recordFinished(db, schema, 'k1');
      await row.lockRotation(db, schema);
      const nothing = { atTable: name, afterKey: null, checked: 0, encrypted: 0, locked: 0, unreadable: 0 };
      await row.recordPage(db, schema, nothing);
      await keys.isOtherKeyUsed(db, schema, 'k1', { seconds: 30, before: undefined });
      await row.endPass(db, schema, false);
      await row.beginPass(db, schema, name);
      await keys.forgetOtherKeys(db, schema, 'k1');
    },
    [`reading the seal keys of ${schema}`]: (db) =>
      new SealRotation({ db: db as Db, schema, tables, keyRing, log: silentLogger() }).status(),
  });

/** The statements in libs/seal-rotation. */
export const sealCases: Case[] = [
  ...casesIn('login', 'login', inLogin),
  ...casesIn('secrets', 'secrets', inSecrets),
  ...casesIn('sync-control', 'sync', inSync),
  ...casesOf('sync-worker-clouda-sm', {
    'checking the seal keys of a worker': (db) => keys.requireSealKeys(db, ['secrets', 'sync'], keyRing),
  }),
];
