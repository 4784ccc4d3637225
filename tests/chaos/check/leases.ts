/** A change of who holds the lease of an entry, in the order of the commits. */
export interface LeaseChange {
  entryId: string;
  /** The holder before and after; null for none. */
  before: string | null;
  after: string | null;
  /** Whether the lease of the holder before had not ended yet. */
  wasHeld: boolean;
  /** The process that made the change. */
  process: string;
}

const isWorker = (process: string): boolean => /worker/.test(process);

/**
 * Returns each claim of an entry that another worker held, and each outcome that a worker recorded, or an entry that it
 * deleted, although another worker held the lease.
 */
export function checkLeases(changes: readonly LeaseChange[]): string[] {
  const processOf = new Map<string, string>();
  const found: string[] = [];
  for (const { entryId, before, after, wasHeld, process } of changes) {
    const holder = before === null ? undefined : processOf.get(before);
    if (after !== null) {
      processOf.set(after, process);
      if (wasHeld) found.push(`${process} claimed entry ${entryId} while ${holder} held it`);
    } else if (holder !== undefined && holder !== process && isWorker(process))
      found.push(`${process} recorded an outcome of entry ${entryId} while ${holder} held it`);
  }
  return found;
}
