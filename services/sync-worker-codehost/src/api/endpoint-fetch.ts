import { type BoundedFetch, bodyBytes, malformedResponse } from '@secrets/sync-worker';

const maxRedirects = 3;

/**
 * Returns a `fetch` for the calls of one server. Renamed and moved repositories are redirects, which it follows on the same host
 * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects). A call or a
 * redirect to any other host fails with `Fault` `unavailable`, so that the credentials reach only the server. A repository is
 * described in about 10 KiB, with the one that it was forked from in three times as many.
 */
export const endpointFetch = (baseUrl: string, fetch: BoundedFetch): typeof globalThis.fetch => {
  const { origin } = new URL(baseUrl);
  const send = async (url: URL, init: RequestInit, redirectsLeft: number): Promise<Response> => {
    if (url.origin !== origin) throw malformedResponse('following a link to another host', 302);
    const isList = url.searchParams.has('per_page');
    const response = await fetch(url.href, {
      ...init,
      maxBytes: isList ? bodyBytes.list : bodyBytes.description,
    });
    const location = locationIn(response, init.method);
    if (location === undefined) return asJson(response, url.href);
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

/** The client returns other bodies as text, as it does invalid JSON. */
function asJson({ status, headers, body }: Response, url: string): Response {
  const typed = new Headers([...headers]);
  typed.set('content-type', 'application/json');
  const response = new Response(body, { status, headers: typed });
  return Object.defineProperty(response, 'url', { value: url }); // read by the client's pagination
}
