import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import type { Db } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import { createRecoveryToken, type RecoveryToken } from '@secrets/login/recovery-token';
import type { KeyRing } from '@secrets/seal';
import { recordRecoveryToken } from '@secrets/sync-control/recovery-event';

/**
 * Writes a new root token, valid for an hour, to a new file with mode 0600, and revokes the one of an earlier call. Listeners of
 * live events learn of it (docs/operations/running.md#no-way-in). Without the row key, no service would accept the token.
 * @throws if the file exists
 */
export async function recover(
  db: Db,
  { file, rowKeys }: { file: string; rowKeys: KeyRing },
): Promise<Omit<RecoveryToken, 'text'>> {
  const descriptor = createFile(file);
  try {
    const { text, ...created } = await db.transaction(async (tx) => {
      await recordRecoveryToken(tx);
      const token = await createRecoveryToken(tx, new Date(db.now()), rowKeys);
      writeFileSync(descriptor, `${token.text.reveal()}\n`, { flush: true });
      return token;
    });
    return created;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function createFile(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new Error(`${file} exists: delete it, or set RECOVERY_FILE to a new one`);
  }
}
