import { Problem } from '@secrets/domain';
import { readBounded } from './read-bounded.ts';
import { retryAfterMs } from './retry-after.ts';

const maxBytes = 512 * 1024;
const timeoutMs = 5_000;

/** A request, besides where it goes and how long it may take. */
interface Message {
  headers: Record<string, string>;
  method?: string;
  body?: string;
}

type Send = (url: string, init: Message & { signal: AbortSignal }) => Promise<Response>;

/** The statuses that are a success, and the problems of others whose reason is known. */
interface Statuses {
  expected: readonly number[];
  problemOf(status: number): Problem | undefined;
}

/**
 * Sends a request to the directory, and returns its response within 5 s, up to 512 KiB. Throws what `problemOf` returns,
 * `unavailable` if the directory does not respond or is overloaded, `bad_gateway` if it returns something else.
 * @param send sends a request, and follows no redirects. A `Problem` that it throws is kept.
 */
export async function exchange(
  send: Send,
  url: string,
  message: Message,
  { expected, problemOf }: Statuses,
): Promise<Response> {
  const init = { ...message, signal: AbortSignal.timeout(timeoutMs) };
  const response = await send(url, init).catch((cause: unknown) => {
    if (cause instanceof Problem) throw cause;
    throw new Problem('unavailable', 'the directory does not respond', { cause, retryAfterSeconds: 2 });
  });
  if (expected.includes(response.status)) return new Response(await boundedBody(response), { status: 200 });
  await response.body?.cancel();
  throw problemOf(response.status) ?? unexpectedStatus(response);
}

/**
 * Fetches a document from the directory, with the limits and the problems of `exchange`.
 * @param absence the problem for the statuses in `absent`, by default 400 and 404, where the reason is known
 */
export type FetchDocument = (
  url: string,
  absence?: () => Problem,
  absent?: readonly number[],
) => Promise<Response>;

/** Returns a function that fetches documents. */
export const documentFetcher =
  (send: Send): FetchDocument =>
  (url, absence, absent = [400, 404]) =>
    exchange(
      send,
      url,
      { headers: { accept: 'application/json' } },
      {
        expected: [200],
        problemOf: (status) => (absent.includes(status) ? absence?.() : undefined),
      },
    );

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
