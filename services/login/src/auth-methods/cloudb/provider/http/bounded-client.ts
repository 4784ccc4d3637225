import {
  createHttpHeaders,
  type HttpClient,
  type PipelineRequest,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline';
import { Problem } from '@secrets/domain';
import { readBounded } from '../../directory/read-bounded.ts';

const timeoutMs = 5_000;
/** The description of a machine with all its extensions has less than 1 MiB. */
const maxBytes = 4 * 1_024 * 1_024;

/** Sends requests to an origin elsewhere, with the same path below `to`. */
export interface Detour {
  origin: string;
  to: string;
}

/**
 * The SDKs' HTTP client: one attempt, within 5 s, without redirects, with a response of up to 4 MiB. The SDKs require https of every URL
 * that they send a token to, and an operator's own endpoint may have http, so the SDKs keep the provider's URL, and the request takes a
 * detour.
 */
export const boundedClient = (detours: readonly Detour[]): HttpClient => ({
  async sendRequest(request): Promise<PipelineResponse> {
    try {
      const response = await fetch(detoured(request.url, detours), {
        method: request.method,
        headers: request.headers.toJSON(),
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

function detoured(url: string, detours: readonly Detour[]): string {
  const { origin, pathname, search } = new URL(url);
  const detour = detours.find((candidate) => candidate.origin === origin);
  return detour === undefined ? url : `${detour.to.replace(/\/+$/, '')}${pathname}${search}`;
}
