import { excessOf, Fault } from '@secrets/domain';

/** Far above what any page of a list has. */
const budget = { depth: 32, values: 50_000 };

const kib = 1024;

/** Maximal sizes of bodies in bytes, by what they have. */
export const bodyBytes = {
  /** Descriptions of one object without its value, and responses of sign-ins. */
  description: 64 * kib,
  /** A page of a list. */
  list: 1024 * kib,
  /** A description with values. JSON takes up to six bytes for one, as in `\u0000`. */
  withValues: (maxValueBytes: number, values = 1): number =>
    bodyBytes.description + 6 * maxValueBytes * values,
};

/** A response whose body was not read yet, and the most that it may have. */
interface UnreadResponse {
  status: number;
  chunks: AsyncIterable<Uint8Array> | null;
  maxBytes: number;
}

/**
 * Reads a body as the provider's client may parse it: whoever answers must not choose how long that takes. At the limit, it
 * stops reading and closes the connection. The body of an error that has too many bytes, levels or values is dropped, because
 * its status still says what went wrong.
 * @throws `Fault` `unavailable` for any other that has too many
 */
export async function readBody(response: UnreadResponse): Promise<Buffer | undefined> {
  const body = await bytesWithin(response);
  const excess = body === undefined ? undefined : excessOf(body, budget);
  if (body !== undefined && excess === undefined) return body;
  if (response.status >= 400) return undefined;
  throw new Fault(
    'unavailable',
    `the service sent a response ${excess === undefined ? `of more than ${Math.ceil(response.maxBytes / kib)} KiB` : `that ${excess}`}`,
  );
}

/** Returns undefined if there are more. Leaving the loop closes the connection. */
async function bytesWithin({ chunks, maxBytes }: UnreadResponse): Promise<Buffer | undefined> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    read.push(chunk);
  }
  return Buffer.concat(read);
}
