import { Fault, isRefusal } from '@secrets/domain';
import type { ConnectedDestination, StartOptions } from '../driver/driver.ts';

/** When the first put of each entry recorded its start, by entry ID. */
export type Starts = Map<string, Date>;

/**
 * Keeps `putStartedAt` of the driver's calls as the runtime does. A request's own `recordStart` runs after its start was
 * recorded.
 */
export const withStarts = (connected: ConnectedDestination, starts: Starts): ConnectedDestination => ({
  ...connected,
  async put(request, signal) {
    const { entryId } = request;
    let isRevocable = false;
    const recordStart = async ({ inParts = false }: StartOptions = {}) => {
      if (!starts.has(entryId)) {
        starts.set(entryId, new Date());
        isRevocable = !inParts;
      }
      await request.recordStart();
    };
    try {
      const putStartedAt = starts.get(entryId) ?? null;
      return await connected.put({ ...request, putStartedAt, recordStart }, signal);
    } catch (error) {
      const isConflict = error instanceof Fault && error.kind === 'conflict';
      if (isConflict || (isRevocable && isRefusal(error))) starts.delete(entryId);
      throw error;
    }
  },
  async remove(request, signal) {
    await connected.remove({ ...request, putStartedAt: starts.get(request.entryId) ?? null }, signal);
    starts.delete(request.entryId);
  },
  async release(request, signal) {
    await connected.release?.({ ...request, putStartedAt: starts.get(request.entryId) ?? null }, signal);
  },
  inspect: (request, signal) =>
    connected.inspect({ ...request, putStartedAt: starts.get(request.entryId) ?? null }, signal),
  list: (after, signal) => connected.list(after, signal),
  close: () => connected.close(),
});
