import {
  createEmptyPipeline,
  type HttpClient,
  type PipelineRequest,
  type PipelineResponse,
  type RetryStrategy,
  retryPolicy,
} from '@azure/core-rest-pipeline';
import { retryAfterMs } from '../../../verification/http/retry-after.ts';

/** Settings for repeating failed requests. */
export interface Retries {
  maxRetries: number;
  /** Before the first retry. It doubles with each further one. */
  retryDelayMs: number;
  maxRetryDelayMs: number;
  /** For a request with all its retries. */
  budgetMs: number;
}

/** 408 Request Timeout, 410 from instance metadata that is being updated, 429 Too Many Requests, and failures of the server. */
const temporary: ReadonlySet<number> = new Set([408, 410, 429, 500, 502, 503, 504]);

/**
 * Repeats requests that failed for a while, with increasing delays or after what `Retry-After` says. A retry that would
 * start after the budget is not waited for: the failure is returned at once. A POST to anything but the directory may
 * have had an effect, so that it is repeated only if it was throttled.
 */
export const retryingClient = (inner: HttpClient, retries: Retries, now = Date.now): HttpClient => ({
  sendRequest(request): Promise<PipelineResponse> {
    const pipeline = createEmptyPipeline();
    const strategy = strategyOf(retries, request, now);
    pipeline.addPolicy(retryPolicy([strategy], { maxRetries: retries.maxRetries }));
    return pipeline.sendRequest(inner, request);
  },
});

function strategyOf(retries: Retries, request: PipelineRequest, now: () => number): RetryStrategy {
  const deadline = now() + retries.budgetMs;
  const isRepeatable = request.method === 'GET' || isTokenRequest(request);
  return {
    name: 'cloudB',
    retry({ retryCount, response, responseError }) {
      const status = response?.status;
      const mayRepeat = status === 429 || (isRepeatable && (status === undefined || temporary.has(status)));
      if (!mayRepeat || (response === undefined && responseError === undefined))
        return { skipStrategy: true };
      const waitMs = retryAfterMs(response, now()) ?? backoffMs(retries, retryCount);
      return now() + waitMs > deadline ? { skipStrategy: true } : { retryAfterInMs: waitMs };
    },
  };
}

const isTokenRequest = ({ headers }: PipelineRequest): boolean =>
  headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true;

/** With jitter, so that the instances of a scale set do not return at the same moment. */
function backoffMs({ retryDelayMs, maxRetryDelayMs }: Retries, retryCount: number): number {
  const delay = Math.min(retryDelayMs * 2 ** retryCount, maxRetryDelayMs);
  return Math.round(delay * (0.8 + Math.random() * 0.2));
}
