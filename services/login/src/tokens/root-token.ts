import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { newAccessor, newToken, tokenHash, tokenKind } from '@secrets/access';
import type { Db } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import { type Sealed, seal } from '@secrets/seal';
import { insertRootToken, rootTokenWasCreated } from '../queries/new-tokens.ts';
import { planLifetime } from './token-lifetime.ts';

/**
 * Creates the root token on the first start: from the operator's file, or a new one that is written to that file,
 * readable only by its owner. The file is written first: after a crash before the insert, the next start takes the
 * token from the file. Later starts change nothing, even if the root token was revoked.
 * @throws an error that names the file, if it does not contain a usable token
 */
export async function ensureRootToken(db: Db, { file }: { file: string }): Promise<{ created: boolean }> {
  if (await rootTokenWasCreated(db)) return { created: false };
  const token = readRootToken(file) ?? writeRootToken(file);
  const created = await insertRootToken(db, {
    hash: tokenHash(token.reveal()),
    accessor: newAccessor(),
    parentAccessor: null,
    namespaceId: 'root',
    displayName: 'root',
    creationPath: 'auth/token/root',
    policies: ['root'],
    metadata: {},
    entityId: null,
    boundCidrs: [],
    renewable: false,
    lifetime: planLifetime({}, new Date(), { forever: true }),
    uses: null,
  });
  return { created };
}

function readRootToken(file: string): Sealed<string> | undefined {
  const text = readIfPresent(file)?.trim();
  if (text === undefined) return undefined;
  if (tokenKind(text) !== 'service')
    throw new Error(`${file} must contain a root token: 20 to 256 printable ASCII characters without spaces`);
  return seal(text);
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a new token to the file atomically, and never replaces an existing file: writes another file, then links it. */
function writeRootToken(file: string): Sealed<string> {
  const token = newToken();
  const draft = `${file}.${process.pid}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${token.reveal()}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return readRootToken(file)!; // another process was first; its token is used
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(file));
  return token;
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
