import { excessOf } from '@secrets/domain';

/** Far more than a key set or the description of a machine has. */
const budget = { depth: 64, values: 50_000 };

/**
 * Reads a body that is to be parsed as JSON. Returns undefined if it has more bytes, and closes the connection, or if
 * it has too many levels or values. Throws if the connection is lost.
 */
export async function readBounded(
  { body }: Pick<Response, 'body'>,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > maxBytes) return undefined; // leaving the loop closes the connection
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  return excessOf(bytes, budget) === undefined ? bytes : undefined;
}
