import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@secrets/domain';
import { maxBodyBytes } from '@secrets/http';
import type { Dispatcher } from 'undici';

/** The complete response of a service. */
export interface CollectedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Throws a problem (`too_large`): the response can neither be stored nor passed on. */
export function refuseTooLarge(): never {
  throw new Problem(
    'too_large',
    'the response is too large to be wrapped; the request may have taken effect',
  );
}

/** Reads a response of up to 1 MiB. Throws a problem (`too_large`) if it is longer. */
export async function collectResponse({
  statusCode: status,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<CollectedResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) refuseTooLarge(); // leaving the loop closes the connection
    chunks.push(chunk);
  }
  return { status, headers, text: Buffer.concat(chunks).toString() };
}
