import { batched, type Db, isUnavailable } from '@secrets/db';
import type { MountRef } from '../../mounts/mount-ref.ts';
import {
  insertVersion,
  type NewVersion,
  type WrittenVersion,
} from '../../queries/versions/insert-version.ts';
import { insertVersions, type VersionToWrite } from '../../queries/versions/insert-versions.ts';

/**
 * Writes the next version of a secret. Undefined if a condition was not met or another writer created the secret at the
 * same time.
 * @throws StaleMountError
 */
export type WriteVersion = (
  mount: MountRef,
  path: string,
  given: NewVersion,
) => Promise<WrittenVersion | undefined>;

/** A larger value is written by a statement of its own, so that others do not wait for it. */
const maxBatchedBytes = 16_384;

/** Creates a function that writes the versions of concurrent requests in one statement, where that is possible. */
export function versionWriter(db: Db): WriteVersion {
  const writeAlone = ({ mount, path, given }: VersionToWrite) =>
    insertVersion(db, mount, path, { ...given, onlyIf: null });
  // If the database did not respond, the versions may have been written, so they must not be written again.
  const write = batched((writes) => insertFirstOfEach(db, writes), writeAlone, isUnavailable);
  return (mount, path, given) =>
    given.onlyIf === null && given.sealed.length <= maxBatchedBytes
      ? write({ mount, path, given })
      : insertVersion(db, mount, path, given);
}

/** Leaves out further writes of the same secret. */
async function insertFirstOfEach(
  db: Db,
  writes: readonly VersionToWrite[],
): Promise<(WrittenVersion | undefined)[]> {
  const firsts = new Map(writes.toReversed().map((write) => [`${write.mount.id} ${write.path}`, write]));
  const chosen = [...firsts.values()];
  const written = await insertVersions(db, chosen);
  const results = new Map(chosen.map((write, at) => [write, written[at]]));
  return writes.map((write) => results.get(write));
}
