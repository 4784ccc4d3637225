import type { Context } from '../../../../context.ts';
import { type NumberedLine, recordAssociated } from '../../../../queries/destinations/imports.ts';
import { requireDestination } from '../../../require-destination.ts';
import { associateOne, lastingReason } from './associate-one.ts';
import { associatingCallers } from './associating-callers.ts';
import { awaitValue } from './await-value.ts';
import type { StoredImport } from './stored-import.ts';

/**
 * Associates the secrets of lines with the destination, which takes over their external secrets, and records with each line
 * whether it was; those without a value are awaited. A secret whose external secret would have another name, or another value,
 * stays as it is. Throws what a later attempt may not meet; a repeated set changes nothing.
 */
export async function associateImported(
  context: Context,
  importId: string,
  request: StoredImport,
  lines: readonly NumberedLine[],
): Promise<void> {
  const destination = await requireDestination(context, request.caller, request);
  const paths = lines.map(({ path }) => path!);
  const callers = await associatingCallers(context, request, paths);
  for (const [index, line] of lines.entries()) {
    const one = { destination, request, caller: callers[index]!, line };
    const isAwaited = line.result === 'value_needed';
    const doing = isAwaited ? awaitValue(context, importId, one) : associateOne(context, one);
    const reason = await doing.catch(lastingReason);
    const association = reason === undefined ? (isAwaited ? 'awaited' : 'associated') : 'refused';
    await recordAssociated(context.db, importId, line.number, { association, reason: notAssociated(reason) });
  }
}

/** The reason as a line shows it. */
export const notAssociated = (reason: string | undefined): string | null =>
  reason === undefined ? null : `not associated: ${reason}`;
