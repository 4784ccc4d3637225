import type { Db, Sql } from '@secrets/db';
import { invalid, Problem } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';
import { listAliasesInOtherCase } from '../queries/entities.ts';
import { ambiguousNames, type IdOrName } from '../queries/groups.ts';

/**
 * The entity or group that a request names: the one whose name is written like this if there are several in different
 * letter cases, which earlier versions accepted. Throws `conflict` if there are several, and none is.
 */
export function exactlyNamed<Row extends { name: string }>(
  rows: readonly Row[],
  by: IdOrName,
): Row | undefined {
  if (rows.length < 2) return rows[0];
  const exact = rows.find(({ name }) => 'name' in by && name === by.name);
  if (exact !== undefined) return exact;
  throw new Problem(
    'conflict',
    `name: ${differing(rows.map(({ name }) => name))}; write one of them exactly`,
  );
}

/** Throws `conflict` if another row than the one with the ID has a name, in whichever letter case. */
export function requireFreeName(
  rows: readonly { id: string }[],
  id: string | undefined,
  what: 'an entity' | 'a group',
): void {
  if (rows.some((row) => row.id !== id)) throw new Problem('conflict', `${what} of this name exists`);
}

/** The warnings about names of a list that exist several times. */
export async function nameWarnings(
  sql: Sql,
  table: 'entities' | 'groups',
  namespaceId: string,
  names: readonly string[],
): Promise<string[]> {
  const found = await ambiguousNames(sql, table, namespaceId, names);
  return found.slice(0, maxWarnings).map((same) => `${differing(same)}; rename or delete all but one`);
}

/** Logs the aliases that differ from another one only in letter case, which earlier versions accepted. */
export async function logAliasesInOtherCase(db: Db, log: Logger): Promise<void> {
  for (const alias of await listAliasesInOtherCase(db, null, maxWarnings))
    log.warn(alias, 'this alias differs from another one only in letter case: delete one of them');
}

const maxWarnings = 20;

const differing = (names: readonly string[]): string =>
  `${[...names].sort().slice(0, 5).join(', ')} differ only in letter case`;

/** Throws `invalid` unless an ID in the body is that of what the path names: the decision on the request was about the path. */
export function requireId(id: string, named: { id: string } | undefined): void {
  if (named?.id !== id) throw invalid('id: must be the ID of what the path names');
}
