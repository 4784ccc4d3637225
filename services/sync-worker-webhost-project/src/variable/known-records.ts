import type { RemoveRequest } from '@secrets/sync-worker';
import type { Variable } from '../api/schema.ts';
import { parseRemembered, type RememberedRecord } from './remembered.ts';
import type { Store } from './store.ts';

/**
 * Returns the listed variables with the records that are remembered as they are now. Lists lag behind: they may lack a
 * record that was just created, or show one as it was before it was last written.
 */
export async function withKnownRecords(
  { api, signal }: Pick<Store, 'api' | 'signal'>,
  request: RemoveRequest,
  listed: readonly Variable[],
): Promise<Variable[]> {
  const variables = new Map(listed.map((variable) => [variable.id || Symbol(), variable]));
  for (const record of parseRemembered(request)?.records ?? []) {
    if (isCurrent(variables.get(record.id), record)) continue;
    const current = await currentRecord(api, request.externalName, record, signal);
    if (current === undefined) variables.delete(record.id);
    else variables.set(record.id, current);
  }
  return [...variables.values()];
}

/** Whether what was read is not older than what the last put left. */
const isCurrent = (variable: Variable | undefined, { updatedAt }: RememberedRecord): variable is Variable =>
  variable !== undefined && (variable.updatedAt ?? 0) >= (updatedAt ?? 0);

/** Reads the record; if that is too old as well, a change that sets its present name returns it as it is. */
async function currentRecord(
  api: Store['api'],
  key: string,
  record: RememberedRecord,
  signal: AbortSignal,
): Promise<Variable | undefined> {
  const read = await api.find(record.id, signal);
  return isCurrent(read, record) ? read : api.edit(record.id, { key }, signal);
}
