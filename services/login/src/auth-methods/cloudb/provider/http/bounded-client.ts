import {
  createHttpHeaders,
  type HttpClient,
  type PipelineRequest,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline';
import { Problem } from '@secrets/domain';
import { readBounded } from '../../../verification/http/read-bounded.ts';

const timeoutMs = 5_000;
/** The description of a machine with all its extensions has less than 1 MiB. */
const maxBytes = 4 * 1_024 * 1_024;

/** Sends requests to an origin elsewhere, with the same path below `to`. */
export interface OriginOverride {
  origin: string;
  to: string;
  /** Whether `X-Forwarded-Host` names the original host. */
  forwardsHost: boolean;
}

/**
 * The SDKs' HTTP client: one attempt, within 5 s, without redirects, with a response of up to 4 MiB. The SDKs require
 * https of every URL that they send a token to, and an operator's own endpoint may have http, so the SDKs keep the
 * provider's URL, and the request takes a detour.
 */
export const boundedClient = (detours: readonly OriginOverride[]): HttpClient => ({
  async sendRequest(request): Promise<PipelineResponse> {
    try {
      const { url, headers: sent } = detoured(request, detours);
      const response = await fetch(url, {
        method: request.method,
        headers: sent,
        body: (request.body ?? null) as string | null,
        redirect: 'manual',
        signal: AbortSignal.any([...signalOf(request), AbortSignal.timeout(timeoutMs)]),
      });
      const body = await readBounded(response, maxBytes);
      if (body === undefined) throw new Problem('bad_gateway', `${tooLarge} (over ${maxBytes} bytes)`);
      const headers = createHttpHeaders(Object.fromEntries(response.headers));
      return { request, status: response.status, headers, bodyAsText: body.toString('utf8') };
    } catch (cause) {
      if (cause instanceof Problem) throw cause;
      throw new RestError('no response', { code: RestError.REQUEST_SEND_ERROR, request });
    }
  },
});

const tooLarge = "the provider's response is too large";

const signalOf = ({ abortSignal }: PipelineRequest): AbortSignal[] =>
  abortSignal === undefined ? [] : [abortSignal as AbortSignal];

function detoured(request: PipelineRequest, detours: readonly OriginOverride[]) {
  const { origin, host, pathname, search } = new URL(request.url);
  const headers = request.headers.toJSON();
  const detour = detours.find((candidate) => candidate.origin === origin);
  if (detour === undefined) return { url: request.url, headers };
  const url = `${detour.to.replace(/\/+$/, '')}${pathname}${search}`;
  return { url, headers: detour.forwardsHost ? { ...headers, 'x-forwarded-host': host } : headers };
}
