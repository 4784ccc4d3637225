import { Fault } from '@secrets/domain';
import { malformedResponse } from '@secrets/sync-worker';

type Fetch = typeof globalThis.fetch;

const maxRedirects = 3;
/** Maximum size of a response that is not a list; a list may have 1 MiB. A repository is described in about 10 KiB. */
const maxBytes = 64 * 1024;
const withoutBody: readonly number[] = [204, 205, 304];

/**
 * Returns a `fetch` for the calls of one server. Renamed and moved repositories are redirects, which it follows on the same host
 * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects). A call or a
 * redirect to any other host fails with `Fault` `unavailable`, so that the credentials reach only the server. Bodies are read to
 * their end: the provider's client ignores a body that breaks off.
 */
export const endpointFetch = (baseUrl: string, fetch: Fetch): Fetch => {
  const { origin } = new URL(baseUrl);
  const send = async (url: URL, init: RequestInit, redirectsLeft: number): Promise<Response> => {
    if (url.origin !== origin) throw malformedResponse('following a link to another host', 302);
    const response = await fetch(url.href, init);
    const location = locationIn(response, init.method);
    if (location === undefined) return readToEnd(response, url.href);
    await response.body?.cancel();
    if (redirectsLeft === 0) throw malformedResponse('following redirects', response.status);
    return send(new URL(location, url), init, redirectsLeft - 1);
  };
  return (input, init = {}) => send(new URL(String(input)), init, maxRedirects);
};

/** A 301 or 302 may turn a write into a read, so only reads follow it. The provider sends 307 for a write. */
function locationIn({ status, headers }: Response, method: string | undefined): string | undefined {
  const isFollowed =
    status === 307 || status === 308 || ((status === 301 || status === 302) && method === 'GET');
  return isFollowed ? (headers.get('location') ?? undefined) : undefined;
}

async function readToEnd(response: Response, url: string): Promise<Response> {
  const content = await response.arrayBuffer();
  if (content.byteLength > maxBytes && !new URL(url).searchParams.has('per_page'))
    throw new Fault('unavailable', 'the service sent a response of more than 64 KiB');
  const headers = new Headers([...response.headers]);
  headers.set('content-type', 'application/json'); // the client returns other bodies as text, as it does invalid JSON
  const body = withoutBody.includes(response.status) ? null : content;
  const read = new Response(body, { status: response.status, headers });
  return Object.defineProperty(read, 'url', { value: url }); // read by the client's pagination
}
