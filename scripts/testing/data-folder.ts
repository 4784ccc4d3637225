import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const inMemory = '/dev/shm';
/** Far more than the databases of a short run take at the same time. */
const plentyBytes = 8 * 2 ** 30;

/** The folder for databases: in memory if there is plenty, because a run creates and deletes hundreds of them. */
export function dataFolder({ isLong }: { isLong: boolean }): string {
  if (isLong || !existsSync(inMemory)) return tmpdir();
  const { bavail, bsize } = statfsSync(inMemory);
  return Math.min(bavail * bsize, process.availableMemory()) >= plentyBytes ? inMemory : tmpdir();
}
