import type { Tx } from '@secrets/db';

/** Passwords of an application that rotations added, or replaced and did not remove yet. */
export interface LeftPasswords {
  keyIds: string[];
  /** The attempts of which a password may exist, whose ID is not known. */
  attempts: string[];
}

/**
 * Forgets the passwords of an application that is no longer configured, and returns them. Keeps the row until the
 * transaction ends.
 */
export async function forgetPasswords(tx: Tx, mountId: string): Promise<LeftPasswords> {
  const [row] = await tx.query<{ keyIds: string[] }>(
    `select array_remove(discarded_key_ids || array[retired_key_id, pending_key_id, current_key_id], null) as "keyIds"
       from login.cloudb_rotations where mount_id = $1 for update`,
    [mountId],
  );
  await tx.query(
    `update login.cloudb_rotations set discarded_key_ids = '{}', retired_key_id = null, current_key_id = null, replaced_key_id = null,
       pending_key_id = null, pending_since = null, pending_expires_at = null, sealed_pending_secret = null where mount_id = $1`,
    [mountId],
  );
  const attempts = await tx.query<{ id: string }>(
    'delete from login.cloudb_rotation_attempts where mount_id = $1 returning id',
    [mountId],
  );
  return { keyIds: row?.keyIds ?? [], attempts: attempts.map(({ id }) => id) };
}
