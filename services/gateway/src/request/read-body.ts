import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@secrets/domain';
import { maxBodyBytes } from '@secrets/http';
import { type BodyHolder, BodyMemory, type HeldBody } from './body-memory.ts';

/** The client disconnected before the exchange was complete, so no response can be sent. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

export interface BodyOptions {
  /** Memory for all bodies together. */
  memoryBytes: number;
  /** How long the body of a request without a token may take. Default 10,000; the server limits the others. */
  publicTimeoutMs?: number;
}

/** Reads the bodies of requests. */
export interface BodyReader {
  /**
   * Reads the body of a request; undefined if there is none. It counts as held until the response is closed. What is
   * still unread then is discarded.
   * @throws a problem: `too_large`, `timeout`, `rate_limited` if there is no memory for it, `unsupported_media_type`
   *   for a compressed body
   */
  read(request: IncomingMessage, response: ServerResponse, holder: BodyHolder): Promise<Buffer | undefined>;
}

/** Limit for requests that need no token: twice the longest directory token. */
const maxPublicBytes = 131_072;

/**
 * A reader whose bodies share one memory.
 * @param observe is called with the bytes that all bodies take whenever these change
 */
export function bodyReader(
  { memoryBytes, publicTimeoutMs = 10_000 }: BodyOptions,
  observe: (heldBytes: number) => void,
): BodyReader {
  const memory = new BodyMemory(memoryBytes, observe);
  return {
    read: async (request, response, holder) => {
      const maxBytes = holder.isPublic ? maxPublicBytes : maxBodyBytes;
      if (!hasBody(request, maxBytes)) return undefined;
      const held = memory.hold(holder);
      response.once('close', held.release);
      const timeoutMs = holder.isPublic ? publicTimeoutMs : undefined;
      return collect(request, held, { maxBytes, timeoutMs }).catch((error: unknown) => {
        if (error instanceof Problem && error.kind === 'timeout') response.shouldKeepAlive = false;
        throw error;
      });
    },
  };
}

/** Whether a request has a body. Throws a problem if its headers say that it cannot be read. */
function hasBody(request: IncomingMessage, maxBytes: number): boolean {
  const {
    'content-length': length,
    'transfer-encoding': coding,
    'content-encoding': encoding,
  } = request.headers;
  if (coding === undefined && (length === undefined || length === '0')) return false;
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (encoding !== undefined && encoding !== 'identity')
    throw new Problem('unsupported_media_type', 'the body must not be compressed');
  return true;
}

function collect(
  request: IncomingMessage,
  held: HeldBody,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number | undefined },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] | undefined = [];
    let bytes = 0;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => fail(late()), timeoutMs);
    const fail = (error: unknown) => {
      clearTimeout(timer);
      chunks = undefined; // the rest is read and dropped
      held.release();
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      if (chunks === undefined) return;
      bytes += chunk.length;
      if (bytes > maxBytes) return fail(tooLarge(maxBytes));
      try {
        held.add(chunk.length);
        chunks.push(chunk);
      } catch (problem) {
        fail(problem);
      }
    });
    request.on('end', () => {
      clearTimeout(timer);
      if (chunks !== undefined) resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    const onBroken = () => {
      if (!request.complete) fail(new ClientDisconnected());
    };
    request.on('close', onBroken);
    request.on('error', onBroken);
  });
}

const tooLarge = (maxBytes: number) =>
  new Problem(
    'too_large',
    maxBytes === maxBodyBytes ? 'the body exceeds 1 MiB' : `the body exceeds ${maxBytes / 1_024} KiB`,
  );

const late = () => new Problem('timeout', 'the body did not arrive in time');
