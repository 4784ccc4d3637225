import { matchesPaths, parsePattern, type RuleMatch, rangeOf } from '@secrets/domain';
import type { Context } from '../context.ts';
import { findMountById, findPlaces, listPaths } from '../queries/matching.ts';

/** Secrets that are looked at for one page. */
const pageSize = 500;

interface MatchingPage {
  /** Undefined if the mount is gone. */
  mount: { path: string; accessor: string } | undefined;
  secrets: { secret_id: string; path: string }[];
  /** The path after which the next page begins; null after the last one. */
  next: string | null;
}

/** Returns the secrets of a mount that match a rule, among the next ones after a path. A page may be empty. */
export async function matchingPage(
  { db }: Context,
  mountId: string,
  { rule, after }: { rule: RuleMatch; after: string },
): Promise<MatchingPage> {
  const mount = await findMountById(db, mountId);
  if (mount === undefined) return { mount, secrets: [], next: null };
  const { metadataMatch } = rule;
  const range = { ...rangeOf(parsePattern(rule.path)), after, limit: pageSize };
  const rows = await listPaths(db, mountId, metadataMatch, range);
  const matching = rows.filter(({ path, hasMetadata }) => hasMetadata && matchesPaths(rule, path));
  return {
    mount,
    secrets: matching.map(({ secretId, path }) => ({ secret_id: secretId, path })),
    next: rows.length === pageSize ? rows.at(-1)!.path : null,
  };
}

/** Returns where secrets are, and their custom metadata. */
export async function placesOf({ db }: Context, secretIds: readonly string[]) {
  const rows = await findPlaces(db, secretIds);
  return rows.map(({ secretId, mountId, path, customMetadata }) => ({
    secret_id: secretId,
    mount_id: mountId,
    path,
    custom_metadata: customMetadata,
  }));
}
