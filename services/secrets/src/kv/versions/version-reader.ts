import { batched, type Db, isUnavailable } from '@secrets/db';
import {
  findVersion,
  findVersions,
  type VersionLookup,
  type VersionRow,
} from '../../queries/versions/find-version.ts';

/**
 * Returns a version of a secret; null if there is none.
 * @throws StaleMountError
 */
export type FindVersion = (lookup: VersionLookup) => Promise<VersionRow | null>;

/** A larger value is read by a statement of its own, so that others do not wait for it. */
const maxBatchedBytes = 16_384;

/** Creates a function that finds the versions of concurrent reads in one statement, except those with large values. */
export const versionReader = (db: Db): FindVersion =>
  batched(
    (lookups) => findVersions(db, lookups, maxBatchedBytes),
    (lookup) => findVersion(db, lookup),
    isUnavailable,
  );
