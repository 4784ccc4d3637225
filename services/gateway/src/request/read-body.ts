import type { IncomingMessage } from 'node:http';
import { Problem } from '@secrets/domain';
import { maxBodyBytes } from '@secrets/http';

/** The client disconnected before the exchange was complete, so no response can be sent. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

const tooLarge = () => new Problem('too_large', 'the body exceeds 1 MiB');

/**
 * Reads the body of a request; undefined if there is none. The server limits how long this may take (408), and discards
 * what is still unread after the response.
 * @throws a problem: `too_large` above 1 MiB, `unsupported_media_type` for a compressed body
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const {
    'content-length': length,
    'transfer-encoding': coding,
    'content-encoding': encoding,
  } = request.headers;
  if (coding === undefined && (length === undefined || length === '0')) return undefined;
  if (Number(length ?? 0) > maxBodyBytes) throw tooLarge();
  if (encoding !== undefined && encoding !== 'identity')
    throw new Problem('unsupported_media_type', 'the body must not be compressed');
  return collect(request);
}

function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
      else reject(tooLarge()); // the rest is read and dropped
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    const onBroken = () => {
      if (!request.complete) reject(new ClientDisconnected());
    };
    request.on('close', onBroken);
    request.on('error', onBroken);
  });
}
