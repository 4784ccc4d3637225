import { randomUUID } from 'node:crypto';
import { Problem } from '@secrets/domain';
import { type Logger, logFailure } from '@secrets/telemetry';
import type { Context } from '../../../../context.ts';
import { beforeFirst } from '../../../../queries/associations/association-pages.ts';
import {
  type AwaitedRow,
  deleteAwaited,
  listAwaited,
  recordSeenRevision,
} from '../../../../queries/destinations/awaited-values.ts';
import { recordAssociated } from '../../../../queries/destinations/imports.ts';
import { requireDestination } from '../../../require-destination.ts';
import { notAssociated } from './associate-imported.ts';
import { associateOne, lastingReason } from './associate-one.ts';
import { associatingCallers } from './associating-callers.ts';
import { openAwaited } from './stored-import.ts';

const pageSize = 500;

/** The secrets service decrypts these. */
const inspectedAtOnce = 20;

/**
 * Associates awaited secrets once somebody has written a version, which takes over their external secrets. Compares the revisions
 * of one page at a time, so that no message can be missed. What cannot be associated says so in its line, and is tried again when
 * the secret is written again. Safe in several processes: a repeated set changes nothing.
 */
export class AwaitedValues {
  readonly #context: Context;
  readonly #log: Logger;
  #after = beforeFirst;

  constructor(context: Context, log: Logger) {
    this.#context = context;
    this.#log = log;
  }

  async advance(): Promise<void> {
    const { db, secrets } = this.#context;
    const page = await listAwaited(db, { after: this.#after, limit: pageSize });
    const changed = page.filter(({ revision, seenRevision }) => revision !== seenRevision);
    const part = changed.slice(0, inspectedAtOnce);
    const isWhole = part.length === changed.length;
    this.#after = isWhole ? (page.length === pageSize ? page.at(-1)!.id : beforeFirst) : part.at(-1)!.id;
    for (const { id } of part.filter(({ revision }) => revision === null)) await deleteAwaited(db, id); // the secret is gone
    const left = part.filter(({ revision }) => revision !== null);
    if (left.length === 0) return;
    const states = await secrets.inspect(
      randomUUID(),
      left.map(({ secretId }) => secretId),
    );
    const stateOf = new Map(states.map((state) => [state.secret_id, state]));
    for (const row of left) {
      const state = stateOf.get(row.secretId);
      if (state === undefined) continue; // unknown
      if (!state.readable) await recordSeenRevision(db, row.id, state.revision);
      else await this.#associate(row, state.revision).catch((error: unknown) => this.#postpone(row, error));
    }
  }

  async #associate(row: AwaitedRow, revision: number): Promise<void> {
    const { db, keyRing } = this.#context;
    const { externalName, path, ...request } = openAwaited(keyRing, row);
    const destination = await requireDestination(this.#context, request.caller, request);
    if (destination.id !== row.destinationId) return deleteAwaited(db, row.id);
    const [caller] = await associatingCallers(this.#context, request, [path]);
    const line = { externalName, path, number: row.line };
    const one = { destination, request, caller: caller!, line };
    const reason = await associateOne(this.#context, one).catch(lastingReason);
    const association = reason === undefined ? 'associated' : 'awaited';
    await db.transaction(async (tx) => {
      await recordAssociated(tx, row.importId, row.line, { association, reason: notAssociated(reason) });
      if (reason === undefined) await deleteAwaited(tx, row.id);
      else await recordSeenRevision(tx, row.id, revision);
    });
  }

  #postpone({ destinationId, secretId }: AwaitedRow, error: unknown): void {
    const isTemporary = error instanceof Problem;
    if (isTemporary)
      this.#log.info(
        { destinationId, secretId, reason: error.message },
        'an awaited secret is not associated yet',
      );
    else
      logFailure(this.#log, { error, destinationId, secretId }, 'an awaited secret could not be associated');
  }
}
