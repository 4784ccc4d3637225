import { type RepairableEntry, rememberedHours } from '@secrets/sync-entries';

/** An entry whose repairs were undone so many times within `rememberedHours` is not repaired again. */
const undoneRepairs = 2;

/**
 * Returns why an entry that has drifted again is not repaired; undefined if it is. Two programs that both correct the same
 * external secret would otherwise write it forever.
 */
export function contestedError({ repairedAt }: Pick<RepairableEntry, 'repairedAt'>): string | undefined {
  if (repairedAt.length < undoneRepairs) return undefined;
  const times = repairedAt.map((at) => at.toISOString().replace(/\.\d+Z$/, 'Z')).join(' and ');
  return `somebody else has undone ${repairedAt.length} repairs within ${rememberedHours} hours, those of ${times}; find out who else writes this external secret, and then set the secret or retry`;
}
