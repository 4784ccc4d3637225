import { randomBytes, randomFillSync } from 'node:crypto';

const pool = Buffer.allocUnsafeSlow(4_096);
let used = pool.length;

/**
 * Random bytes, as `randomBytes` returns them. They are generated for many calls at once, which takes hardly longer than for one;
 * no bytes are returned twice, or stay in the pool when they have been.
 */
export function pooledRandomBytes(count: number): Buffer {
  if (count > pool.length) return randomBytes(count);
  if (count > pool.length - used) {
    randomFillSync(pool);
    used = 0;
  }
  const next = pool.subarray(used, used + count);
  used += count;
  const bytes = Buffer.from(next);
  next.fill(0);
  return bytes;
}
