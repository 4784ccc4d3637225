import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { newAccessor, newToken, tokenHash, tokenKind } from '@secrets/access';
import type { Db } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import { type Sealed, seal } from '@secrets/seal';
import { insertRootToken, rootTokenWasCreated } from './queries/tokens.ts';
import { planLifetime } from './tokens/token-lifetime.ts';

/**
 * Makes the root token at the first start: the one in the operator's file, or a new one that is written there once,
 * readable by its owner alone. The file comes first, so a crash before the database knows leaves a file that the
 * next start takes as the operator's. Later starts change nothing, even when the root token has been revoked.
 * Throws for a file that holds no usable token, naming the file.
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
    throw new Error(`${file} must hold a root token: 20 to 256 printable characters without blanks`);
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

/** Appears whole or not at all, and never over a file that is there: written beside it, then linked. */
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
    return readRootToken(file)!; // another process was first; its token counts
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
