import { Problem } from '@secrets/domain';
import { readBounded } from './read-bounded.ts';
import { retryAfterMs } from './retry-after.ts';

const maxBytes = 512 * 1024;
const timeoutMs = 5_000;

type Send = (
  url: string,
  init: { signal: AbortSignal; headers: Record<string, string> },
) => Promise<Response>;

/**
 * Fetches a document from the directory within 5 s, without redirects, up to 512 KiB. Throws `unavailable` if the
 * directory does not respond or is overloaded, `bad_gateway` if it returns something else.
 * @param absence the problem for status 400 and 404, where the reason is known
 */
export type FetchDocument = (url: string, absence?: () => Problem) => Promise<Response>;

/**
 * Returns a function that fetches documents.
 * @param send sends a request, and follows no redirects. A `Problem` that it throws is kept.
 */
export const documentFetcher =
  (send: Send): FetchDocument =>
  async (url, absence) => {
    const init = { signal: AbortSignal.timeout(timeoutMs), headers: { accept: 'application/json' } };
    const response = await send(url, init).catch((cause: unknown) => {
      if (cause instanceof Problem) throw cause;
      throw new Problem('unavailable', 'the directory does not respond', { cause, retryAfterSeconds: 2 });
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      if (absence !== undefined && [400, 404].includes(response.status)) throw absence();
      throw unexpectedStatus(response);
    }
    return new Response(await boundedBody(response), { status: 200 });
  };

/** Fetches a document at a URL that no user can choose. */
export const fetchDocument = documentFetcher((url, init) => fetch(url, { ...init, redirect: 'manual' }));

function unexpectedStatus(response: Response): Problem {
  const { status } = response;
  const sentence = `the directory returned status ${status}`;
  if (status !== 429 && status < 500) return new Problem('bad_gateway', sentence);
  const waitMs = retryAfterMs(response, Date.now()) ?? 2_000;
  return new Problem('unavailable', sentence, { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

async function boundedBody(response: Response): Promise<Buffer<ArrayBuffer>> {
  const body = await readBounded(response, maxBytes).catch((cause: unknown) => {
    const sentence = 'the directory closed the connection in the middle of a response';
    throw new Problem('unavailable', sentence, { cause, retryAfterSeconds: 2 });
  });
  if (body === undefined)
    throw new Problem('bad_gateway', 'the directory returned a document that is too large');
  return body;
}
