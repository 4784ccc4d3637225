import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const inMemory = '/dev/shm';
/** Far more than a short run takes at the same time. */
const plentyBytes = 8 * 2 ** 30;

/**
 * The folder for temporary files: in memory if there is plenty. A run creates and deletes hundreds of databases, and a server
 * that waits for the disk at each change, as RabbitMQ does, takes several times as long to start.
 */
export function temporaryFiles({ isLong }: { isLong: boolean }): string {
  if (isLong || !existsSync(inMemory)) return tmpdir();
  const { bavail, bsize } = statfsSync(inMemory);
  return Math.min(bavail * bsize, process.availableMemory()) >= plentyBytes ? inMemory : tmpdir();
}
