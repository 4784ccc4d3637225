/** Reads a body. Returns undefined, and closes the connection, if it has more bytes. Throws if the connection is lost. */
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
  return Buffer.concat(parts);
}
