import {
  createHttpHeaders,
  type HttpClient,
  type PipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline';
import { cloudBKv } from '@secrets/destinations';
import { bodyBytes, type Egress } from '@secrets/sync-worker';

/** Where requests go instead of the host in their URL. */
export interface OriginOverride {
  /** Takes the place of the origin. */
  baseUrl: string;
  /** Whether `X-Forwarded-Host` names the original host. Emulators that do not know several hosts ignore it. */
  forwardsHost: boolean;
}

/**
 * The SDK's HTTP client: sends requests through the egress guard. The SDK requires https of every URL, and an emulator
 * may have no certificate, so the SDK keeps the provider's URL, and the request takes the detour that the operator
 * configured.
 */
export const guardedHttpClient = (
  fetch: Egress['fetch'],
  detour: OriginOverride | undefined,
): HttpClient => ({
  async sendRequest(request): Promise<PipelineResponse> {
    const { url, headers } = detoured(request, detour);
    const response = await fetch(url, {
      method: request.method,
      headers,
      body: (request.body ?? null) as string | null,
      signal: (request.abortSignal as AbortSignal | undefined) ?? null,
      maxBytes: maxBytesOf(new URL(request.url)),
    });
    return {
      request,
      status: response.status,
      headers: createHttpHeaders(Object.fromEntries(response.headers)),
      bodyAsText: await response.text(),
    };
  },
});

/** Lists are those of secrets, of deleted ones and of versions. A secret is returned with its value, also by a write. */
function maxBytesOf({ pathname }: URL): number {
  if (/\/(deletedsecrets|secrets|versions)\/?$/.test(pathname)) return bodyBytes.list;
  return /^\/(deletedsecrets|secrets)\//.test(pathname)
    ? bodyBytes.withValues(cloudBKv.maxValueBytes)
    : bodyBytes.description;
}

function detoured(
  request: PipelineRequest,
  detour: OriginOverride | undefined,
): { url: string; headers: Record<string, string> } {
  const headers = request.headers.toJSON();
  if (detour === undefined) return { url: request.url, headers };
  const { host, pathname, search } = new URL(request.url);
  const url = `${detour.baseUrl.replace(/\/+$/, '')}${pathname}${search}`;
  return { url, headers: detour.forwardsHost ? { ...headers, 'x-forwarded-host': host } : headers };
}
