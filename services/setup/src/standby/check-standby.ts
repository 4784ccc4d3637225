import { latestVersion, openCopySession, type Sql } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import type { KeyRing } from '@secrets/seal';
import { listSealKeys } from '@secrets/seal-rotation';
import { ArchiveError } from '../backup/archive/archive-error.ts';
import type { SchemaName } from '../backup/archive/manifest.ts';
import { describeVersions, hasSchemas } from '../backup/database/describe-database.ts';
import { findSealKeys } from '../backup/seal-keys-of-archive.ts';
import { checkRows } from '../database/check-rows.ts';
import { type Judgement, judgeServer } from './judge-server.ts';
import { readServerState, type ServerState } from './server-state.ts';

export interface StandbyKeys {
  /** The seal keys of login, secrets and sync-control, by the names of their files. */
  sealKeys: ReadonlyMap<string, KeyRing>;
  rowKeys: KeyRing;
}

export interface StandbyReport extends Judgement {
  state: ServerState;
  /** Rows that decide about access and are as login has written them. */
  boundRows: number;
}

/**
 * Checks whether a standby could take over with these keys and this version, or whether a promoted one has. Changes nothing, so a
 * standby that is in use can be checked.
 */
export async function checkStandby(databaseUrl: string, keys: StandbyKeys): Promise<StandbyReport> {
  const session = await openCopySession(databaseUrl, 'setup check-standby');
  try {
    if (!(await hasSchemas(session))) throw new Error('the database has no data of this service');
    const state = await readServerState(session);
    const { problems, notes } = judgeServer(state);
    const rows = await rowProblems(session, keys.rowKeys);
    problems.push(...(await versionProblems(session)), ...(await sealKeyProblems(session, keys.sealKeys)));
    problems.push(...rows.problems);
    return { state, problems, notes, boundRows: rows.boundRows };
  } finally {
    await session.close();
  }
}

async function versionProblems(sql: Sql): Promise<string[]> {
  const found = await describeVersions(sql);
  return serviceSchemas.flatMap(({ schema, folder }) => {
    const [version, newest] = [found[schema as SchemaName].version, latestVersion(folder)];
    if (version <= newest) return [];
    return [
      `the schema ${schema} has version ${version}, and this program knows ${newest}: use a newer version`,
    ];
  });
}

/** The fingerprints that services have recorded show whether the keys are the right ones. */
async function sealKeyProblems(sql: Sql, files: StandbyKeys['sealKeys']): Promise<string[]> {
  const sealKeys = {
    login: await listSealKeys(sql, 'login'),
    secrets: await listSealKeys(sql, 'secrets'),
    sync: await listSealKeys(sql, 'sync'),
  };
  try {
    findSealKeys(files, { sealKeys });
    return [];
  } catch (error) {
    if (error instanceof ArchiveError) return [error.message];
    throw error;
  }
}

async function rowProblems(sql: Sql, rowKeys: KeyRing): Promise<{ problems: string[]; boundRows: number }> {
  const { changed, noHash, keys } = await checkRows(sql, rowKeys, { onListed: () => undefined });
  const boundRows = Object.values(keys).reduce((sum, count) => sum + count, 0);
  if (changed === 0 && (noHash === 0 || !rowKeys.current.isBound)) return { problems: [], boundRows };
  return {
    problems: [
      `${changed} rows that decide about access are not as login has written them, and ${noHash} have no hash: ` +
        'they were changed, or the row key is another one',
    ],
    boundRows,
  };
}
