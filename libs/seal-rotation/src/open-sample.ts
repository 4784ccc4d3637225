import { randomBytes, randomUUID } from 'node:crypto';
import type { Sql } from '@secrets/db';
import { decrypt, type KeyRing, SealError } from '@secrets/seal';
import { lockRows, type RowKey, type SealedTable, scanRows } from './sealed-table.ts';

const sampleRows = 200;
/** Maximum number of bytes to decrypt, unless a single value is larger. */
const sampleBytes = 4 * 1024 * 1024;

interface OpenedSample {
  opened: number;
  /** Rows that cannot be decrypted. */
  unreadable: RowKey[];
}

/**
 * Decrypts some rows of a table, from a random place on and from its beginning, and forgets what it has decrypted. Must run in a
 * transaction; changes nothing.
 */
export async function openSample(sql: Sql, keyRing: KeyRing, table: SealedTable): Promise<OpenedSample> {
  const scanned = [
    ...(await scanRows(sql, table, randomKey(table), sampleRows)),
    ...(await scanRows(sql, table, undefined, sampleRows)),
  ];
  const keys = limited(scanned);
  const rows = keys.length === 0 ? [] : await lockRows(sql, table, keys);
  const unreadable = rows
    .filter(({ aad, sealed }) => !canOpen(() => decrypt(keyRing, aad, sealed)))
    .map(({ key }) => key);
  return { opened: rows.length - unreadable.length, unreadable };
}

/** A place in the table. There is none for texts, which may begin with anything. */
function randomKey({ key }: SealedTable): RowKey | undefined {
  if (key.some(([, type]) => type === 'text')) return undefined;
  const values = {
    uuid: () => randomUUID(),
    bytea: () => `\\x${randomBytes(32).toString('hex')}`,
    integer: () => '0',
    text: () => '',
  };
  return key.map(([, type]) => values[type]());
}

function limited(rows: Awaited<ReturnType<typeof scanRows>>): RowKey[] {
  const keys = new Map<string, RowKey>();
  let bytes = 0;
  for (const row of rows) {
    if (row.header === null || keys.size === sampleRows) continue;
    if (keys.size > 0 && bytes + row.bytes > sampleBytes) break;
    keys.set(JSON.stringify(row.key), row.key);
    bytes += row.bytes;
  }
  return [...keys.values()];
}

function canOpen(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return false;
  }
}
