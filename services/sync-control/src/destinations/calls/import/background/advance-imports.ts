import { Problem } from '@secrets/domain';
import { SealError } from '@secrets/seal';
import { type Logger, logFailure } from '@secrets/telemetry';
import type { Context } from '../../../../context.ts';
import {
  claimImport,
  endImportStep,
  type ImportLease,
  listLinesToAssociate,
  recordImportPage,
} from '../../../../queries/destinations/imports.ts';
import { failureText } from '../../../background/failure-text.ts';
import { afterFailure, pauseAfter } from './after-failure.ts';
import { associateImported } from './associate-imported.ts';
import { importPage } from './import-page.ts';
import { openImport, type StoredImport, sealImport } from './stored-import.ts';

interface ImportWork {
  context: Context;
  log: Logger;
}

/** External secrets of one import, at most. */
const maxLines = 100_000;

/** Secrets that are associated at a time. */
const associatedAtOnce = 50;

/**
 * Continues the imports that are due, one part of each in turn: a page of external secrets, or the associations of a page. The
 * lines of a page and the position of the next one are recorded together. If a process dies, another one repeats its part after
 * a minute.
 */
export async function advanceImports(work: ImportWork, isStopping: () => boolean): Promise<void> {
  while (!isStopping()) {
    const lease = await claimImport(work.context.db);
    if (lease === undefined) return;
    await advance(work, lease).catch((error: unknown) => postpone(work, lease, error));
  }
}

async function advance({ context }: ImportWork, lease: ImportLease): Promise<void> {
  const { db, keyRing } = context;
  const request = openImport(keyRing, lease);
  const lines = await listLinesToAssociate(db, lease.id, associatedAtOnce);
  if (lines.length > 0) {
    await associateImported(context, lease.id, request, lines);
    return endImportStep(db, lease, { error: null, attempts: 0, retryInSeconds: 0 });
  }
  if (lease.isListed) return end(context, lease, 'done', null);
  if (lease.lines >= maxLines) return end(context, lease, 'failed', tooMany);
  await advancePage(context, lease, request);
}

const tooMany = `an import has at most ${maxLines} lines; continue with another one that matches the rest`;

const end = (
  { db }: Context,
  lease: ImportLease,
  state: 'done' | 'failed',
  error: string | null,
): Promise<void> => endImportStep(db, lease, { state, error, attempts: 0, retryInSeconds: 0 });

async function advancePage(context: Context, lease: ImportLease, request: StoredImport): Promise<void> {
  const { keyRing, db } = context;
  const { id, attempts } = lease;
  const { lines, next, reason } = await importPage(context, lease, request);
  const failed = lines.length === 0 && reason !== null ? attempts + 1 : 0;
  const sealedRequest = sealImport(keyRing, id, { ...request, position: next ?? request.position });
  await db.transaction((tx) =>
    recordImportPage(tx, lease, lines, {
      sealedRequest,
      isListed: next === null,
      error: reason,
      attempts: failed,
      retryInSeconds: reason === null ? 0 : pauseAfter(failed), // a second, if only the budget was spent
    }),
  );
}

/** A row that does not open was changed, or its key is missing: nothing is done for it. */
async function postpone({ context, log }: ImportWork, lease: ImportLease, thrown: unknown): Promise<void> {
  const { destinationId, attempts } = lease;
  const message = 'an import could not continue';
  if (thrown instanceof Problem) log.info({ destinationId, reason: thrown.message }, message);
  else logFailure(log, { error: thrown, destinationId }, message);
  const isUnreadable = thrown instanceof SealError;
  const after = isUnreadable
    ? { state: 'failed' as const, attempts, retryInSeconds: 0 }
    : afterFailure(thrown, attempts);
  const error = isUnreadable ? 'the request of the import cannot be read' : failureText(thrown);
  await endImportStep(context.db, lease, { ...after, error });
}
