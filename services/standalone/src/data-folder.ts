import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Env } from './config.ts';

/** Where everything of a standalone installation lies. */
export interface DataFolder {
  database: string;
  sealKey: string;
  internalKey: string;
  rootToken: string;
  audit: string;
  sandbox: string;
}

/** Makes the folder and its keys at the first start (mode 0700 and 0600), and finds them at every later one. */
export function openDataFolder(env: Env): DataFolder {
  const root = resolve(env.DATA_DIR);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const folder: DataFolder = {
    database: join(root, 'database'),
    sealKey: env.SEAL_KEY_FILE ?? join(root, 'seal.key'),
    internalKey: env.INTERNAL_KEY_FILE ?? join(root, 'internal.key'),
    rootToken: env.ROOT_TOKEN_FILE ?? join(root, 'root-token'),
    audit: env.AUDIT_FILE ?? join(root, 'audit.log'),
    sandbox: join(root, 'sandbox.jsonl'),
  };
  makeKey(folder.sealKey, (key) => `k1:${key}\n`, existsSync(folder.database));
  makeKey(folder.internalKey, (key) => `${key}\n`, false);
  return folder;
}

/** A seal key that is missing beside existing data is not replaced: what is stored could never be read again. */
function makeKey(file: string, line: (key: string) => string, dataExists: boolean): void {
  if (existsSync(file)) return;
  if (dataExists)
    throw new Error(
      `${file} is missing, and the data cannot be read without it; restore it from your backup`,
    );
  writeFileSync(file, line(randomBytes(32).toString('base64')), { mode: 0o600, flag: 'wx', flush: true });
}
