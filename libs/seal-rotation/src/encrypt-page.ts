import type { Sql } from '@secrets/db';
import { decrypt, encrypt, type KeyRing, SealError, sealedWith } from '@secrets/seal';
import { lockRows, type RowKey, replaceSealed, type SealedTable, scanRows } from './sealed-table.ts';

const pageRows = 200;
/** Maximum number of bytes to encrypt again per page, unless a single value is larger. */
const pageBytes = 4 * 1024 * 1024;

export interface EncryptedPage {
  /** The last row that was checked; undefined if the table ends here. */
  last: RowKey | undefined;
  checked: number;
  encrypted: number;
  /** Rows that another transaction has locked or deleted meanwhile. */
  locked: number;
  /** Rows that cannot be decrypted, with the reason. */
  unreadable: { key: RowKey; reason: string }[];
}

/**
 * Checks a page of a table, and encrypts again what is not encrypted with the current key of the ring. Must run in a
 * transaction. It waits for no lock, and changes nothing but the sealed bytes.
 */
export async function encryptPage(
  sql: Sql,
  keyRing: KeyRing,
  table: SealedTable,
  after: RowKey | undefined,
): Promise<EncryptedPage> {
  const rows = await scanRows(sql, table, after, pageRows);
  const { stale, checked } = limited(rows, keyRing.current.id);
  const locked = stale.length === 0 ? [] : await lockRows(sql, table, stale);
  const unreadable: EncryptedPage['unreadable'] = [];
  const again = locked.flatMap(({ key, aad, sealed }) => {
    try {
      return [{ key, sealed: encrypt(keyRing, aad, decrypt(keyRing, aad, sealed)) }];
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      unreadable.push({ key, reason: error.message });
      return [];
    }
  });
  if (again.length > 0) await replaceSealed(sql, table, again);
  const isEnd = checked === rows.length && rows.length < pageRows;
  return {
    last: isEnd ? undefined : rows[checked - 1]!.key,
    checked,
    encrypted: again.length,
    locked: stale.length - locked.length,
    unreadable,
  };
}

/** The rows to encrypt again, up to the limit of bytes, and how many rows were looked at for that. */
function limited(rows: Awaited<ReturnType<typeof scanRows>>, keyId: string) {
  const stale: RowKey[] = [];
  let [checked, bytes] = [0, 0];
  for (const row of rows) {
    if (isStale(row.header, keyId)) {
      if (stale.length > 0 && bytes + row.bytes > pageBytes) break;
      stale.push(row.key);
      bytes += row.bytes;
    }
    checked += 1;
  }
  return { stale, checked };
}

/** Bytes that nothing can read count as stale, so that they are reported. */
function isStale(header: Uint8Array | null, keyId: string): boolean {
  if (header === null) return false;
  try {
    return sealedWith(header) !== keyId;
  } catch {
    return true;
  }
}
