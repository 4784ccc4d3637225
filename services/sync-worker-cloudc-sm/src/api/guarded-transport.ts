import { cloudCSm } from '@secrets/destinations';
import { parsedJson } from '@secrets/domain';
import { type BoundedFetch, bodyBytes } from '@secrets/sync-worker';
import { gaxios } from 'google-auth-library';
import { ResponseError, responseErrorOf } from './response-error.ts';

/** The hosts of the API: that of all secrets that are not regional, and one in each location. */
const apiHosts = /^secretmanager(\.[a-z0-9-]+\.rep)?\.googleapis\.com$/;

/**
 * Returns what sends every request of the provider's SDK and of its authentication library: it connects through the
 * guard's `fetch` only, whatever agent or proxy the caller asks for, and never retries. Responses that are not a
 * success with JSON become a `ResponseError`, which the SDK keeps as a cause.
 * @param endpointUrl the operator's endpoint in place of the API's own
 */
export function guardedTransport(fetch: BoundedFetch, endpointUrl: string | undefined): gaxios.Gaxios {
  const transport = new gaxios.Gaxios({
    fetchImplementation: (input, init) => send(fetch, endpointUrl, input, init),
  });
  transport.interceptors.request.add({
    resolved: async (config) => {
      const { retryConfig: _, ...once } = config;
      return { ...once, retry: false };
    },
  });
  return transport;
}

async function send(
  fetch: BoundedFetch,
  endpointUrl: string | undefined,
  input: string | URL | Request,
  { method = 'GET', headers, body, signal }: RequestInit = {},
): Promise<Response> {
  const { url, ...forwarded } = atEndpoint(
    new URL(input instanceof Request ? input.url : input),
    endpointUrl,
  );
  const response = await fetch(url, {
    method,
    headers: { ...Object.fromEntries(new Headers(headers)), ...forwarded.headers },
    ...(body === undefined || body === null ? {} : { body }),
    ...(signal === undefined || signal === null ? {} : { signal }),
    maxBytes: maxBytesOf(new URL(url)),
  });
  if (response.status >= 400) throw await responseErrorOf(response);
  const text = response.ok ? await response.text() : '';
  if (parsedJson(text) === undefined) throw new ResponseError(response.status);
  return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } });
}

/**
 * A secret can have 64 labels of 126 characters, 16 KiB of annotations, 50 aliases of versions, and a key in each of its
 * locations (https://docs.cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets#Secret).
 */
const maxSecretBytes = 2 * bodyBytes.description;

function maxBytesOf({ pathname }: URL): number {
  if (/\/(secrets|versions)$/.test(pathname)) return bodyBytes.list;
  if (pathname.endsWith(':access')) return bodyBytes.withValues(cloudCSm.maxValueBytes);
  return /\/secrets\//.test(pathname) ? maxSecretBytes : bodyBytes.description;
}

/**
 * Moves a URL of the API to the operator's endpoint, below its path. The SDK itself takes only a host. The endpoint learns which
 * host of the API is meant from `X-Forwarded-Host`: each knows other secrets.
 */
function atEndpoint(
  url: URL,
  endpointUrl: string | undefined,
): { url: string; headers?: Record<string, string> } {
  if (endpointUrl === undefined || !apiHosts.test(url.hostname)) return { url: url.href };
  return {
    url: endpointUrl.replace(/\/$/, '') + url.pathname + url.search,
    headers: { 'x-forwarded-host': url.hostname },
  };
}
