import type { IncomingMessage } from 'node:http';
import { Problem } from '@secrets/domain';
import { maxBodyBytes } from '@secrets/http';

/** The client went away before its request was whole. There is nobody to answer. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

const tooLarge = () => new Problem('too_large', 'the body is over 1 MiB');

/**
 * Reads a request's body, 1 MiB at most (`too_large`); undefined when there is none. How long it may take is the
 * server's to bound (408). What is left unread is thrown away by the server after the answer.
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
  return collected(request);
}

function collected(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
      else reject(tooLarge()); // the rest flows by and is dropped
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    const broken = () => {
      if (!request.complete) reject(new ClientDisconnected());
    };
    request.on('close', broken);
    request.on('error', broken);
  });
}
