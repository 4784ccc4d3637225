import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseStartError } from '@secrets/db';
import { createSecretFile } from '@secrets/seal';
import type { Env } from './config.ts';

/** The files of a standalone installation. */
export interface DataFolder {
  database: string;
  sealKey: string;
  internalKey: string;
  rowKey: string;
  rootToken: string;
  /** The devices of the audit log. */
  audit: readonly string[];
  sandbox: string;
}

/** Creates the folder (mode 0700) if it does not exist. Returns the paths of its files, or those that the environment sets. */
export function openDataFolder(env: Env): DataFolder {
  const root = resolve(env.DATA_DIR);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  return {
    database: join(root, 'postgres'),
    sealKey: env.SEAL_KEY_FILE ?? join(root, 'seal.key'),
    internalKey: env.INTERNAL_KEY_FILE ?? join(root, 'internal.key'),
    rowKey: env.ROW_KEY_FILE ?? join(root, 'row.key'),
    rootToken: env.ROOT_TOKEN_FILE ?? join(root, 'root-token'),
    audit: env.AUDIT_FILE.length > 0 ? env.AUDIT_FILE : [join(root, 'audit.log')],
    sandbox: join(root, 'sandbox.jsonl'),
  };
}

/** https://www.freedesktop.org/software/systemd/man/latest/machine-id.html, which asks not to publish it, so it is hashed. */
const machineIdFile = '/etc/machine-id';

/**
 * Identifies the folder of an embedded database, and the machine, if it has an ID (a container usually has none). A copy of the
 * folder that is started elsewhere has another place.
 */
export function placeOf({ database }: DataFolder): string {
  const machine = existsSync(machineIdFile) ? readFileSync(machineIdFile, 'utf8').trim() : '';
  const path = realpathSync(database);
  return createHash('sha256')
    .update(JSON.stringify([machine, path]))
    .digest('hex');
}

/** The content of the database that needs keys. */
export interface ExistingData {
  dataExists: boolean;
  /** Whether a version that has a row key, from before its rows exist, has prepared the database. */
  hasRowHashes: boolean;
}

/**
 * Creates the keys that do not exist yet (mode 0600). The row key of data from an earlier version is not bound: its rows have no
 * hashes.
 */
export function createKeys(folder: DataFolder, { dataExists, hasRowHashes }: ExistingData): void {
  if (hasRowHashes && !existsSync(folder.rowKey))
    throw new DatabaseStartError(
      `${folder.rowKey} is missing, and no token is accepted without it; restore it from your backup`,
    );
  createKey(folder.rowKey, (key) => `r1:${key}${dataExists ? '' : ' bound'}\n`, false);
  createKey(folder.sealKey, (key) => `k1:${key} bound\n`, dataExists);
  createKey(folder.internalKey, (key) => `${key}\n`, false);
}

/** A missing seal key is not replaced if data exists: the data could never be decrypted again. */
function createKey(file: string, line: (key: string) => string, dataExists: boolean): void {
  if (dataExists && !existsSync(file))
    throw new DatabaseStartError(
      `${file} is missing, and the data cannot be decrypted without it; restore it from your backup`,
    );
  createSecretFile(file, () => line(randomBytes(32).toString('base64')));
}
