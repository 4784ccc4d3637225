import type { Sql } from '@secrets/db';
import { Problem } from '@secrets/domain';

const maxMiB = 256;

/** The most that the wrapped responses of a namespace may take together, encrypted. */
export const maxWrappedBytes = maxMiB * 2 ** 20;

/**
 * Checks, before a request takes effect, that there is space for its response. The one that takes the rest may still be
 * refused when it is stored.
 * @throws `queue_full`, with the limit and what is used
 */
export async function requireSpaceToWrap(sql: Sql, namespaceId: string): Promise<void> {
  const bytes = await readWrappedBytes(sql, namespaceId);
  if (bytes >= maxWrappedBytes) throw wrappedSpaceFull(bytes);
}

/** The bytes of the wrapped responses of a namespace. */
export async function readWrappedBytes(sql: Sql, namespaceId: string): Promise<number> {
  const text = 'select bytes from login.wrapped_space where namespace_id = $1';
  return (await sql.query<{ bytes: number }>(text, [namespaceId]))[0]?.bytes ?? 0;
}

/** The refusal of a response that does not fit. */
export const wrappedSpaceFull = (bytes: number): Problem =>
  new Problem(
    'queue_full',
    `the wrapped responses of this namespace take ${(bytes / 2 ** 20).toFixed(1)} MiB of ${maxMiB} MiB: unwrap or revoke some`,
    { retryAfterSeconds: 60 },
  );
