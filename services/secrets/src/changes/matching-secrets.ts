import { matchesPaths, parsePattern, type RuleMatch, rangeOf } from '@secrets/domain';
import type { Context } from '../context.ts';
import { findMountById, findPlaces, listPaths } from '../queries/matching.ts';

/** Secrets that are looked at for one page by default, and at most. */
export const matchingPageSize = { byDefault: 500, max: 10_000 };

interface MatchingPage {
  /** Undefined if the mount is gone. */
  mount: { path: string; accessor: string } | undefined;
  secrets: { secret_id: string; path: string }[];
  /** The path after which the next page begins; null after the last one. */
  next: string | null;
}

/** Returns the secrets of a mount that match a rule, among the next `limit` ones after a path. A page may be empty. */
export async function matchingPage(
  { db }: Context,
  mountId: string,
  { rule, after, limit }: { rule: RuleMatch; after: string; limit: number },
): Promise<MatchingPage> {
  const mount = await findMountById(db, mountId);
  if (mount === undefined) return { mount, secrets: [], next: null };
  const { metadataMatch } = rule;
  const range = { ...rangeOf(parsePattern(rule.path)), after, limit };
  const rows = await listPaths(db, mountId, metadataMatch, range);
  const matching = rows.filter(({ path, hasMetadata }) => hasMetadata && matchesPaths(rule, path));
  return {
    mount,
    secrets: matching.map(({ secretId, path }) => ({ secret_id: secretId, path })),
    next: rows.length === limit ? rows.at(-1)!.path : null,
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
