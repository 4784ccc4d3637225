import { Fault } from '@secrets/domain';
import type { RemoveRequest } from '@secrets/sync-worker';
import type { Variable } from '../api/schema.ts';
import { parseRemembered, type RememberedRecord } from './remembered.ts';
import type { Store } from './store.ts';

/** Returns a record as it is now; undefined if there is none. */
type ReadRecord = (record: RememberedRecord) => Promise<Variable | undefined>;

type Reader = Pick<Store, 'api' | 'signal'>;

/**
 * Returns the listed variables with the records that are remembered as they are now. Lists lag behind: they may lack a
 * record that was just created, or show one as it was before it was last written.
 */
export const withKnownRecords = (
  { api, signal }: Reader,
  request: RemoveRequest,
  listed: readonly Variable[],
): Promise<Variable[]> =>
  withRecords(request, listed, (record) => currentRecord(api, request.externalName, record, signal));

/**
 * Does the same as `withKnownRecords`, but without a write.
 * @throws {Fault} `not_ready` if the record that is read is older than the last put
 */
export const withReadRecords = (
  { api, signal }: Reader,
  request: RemoveRequest,
  listed: readonly Variable[],
): Promise<Variable[]> =>
  withRecords(request, listed, async (record) => {
    const read = await api.find(record.id, signal);
    if (read === undefined || read.updatedAt === null || isCurrent(read, record)) return read;
    throw new Fault(
      'not_ready',
      `the provider still returns an earlier state of ${JSON.stringify(request.externalName)}`,
    );
  });

async function withRecords(
  request: RemoveRequest,
  listed: readonly Variable[],
  read: ReadRecord,
): Promise<Variable[]> {
  const variables = new Map(listed.map((variable) => [variable.id || Symbol(), variable]));
  for (const record of parseRemembered(request)?.records ?? []) {
    if (isCurrent(variables.get(record.id), record)) continue;
    const current = await read(record);
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
