import {
  createHttpHeaders,
  createPipelineRequest,
  type HttpMethods,
  RestError,
} from '@azure/core-rest-pipeline';
import { describe, expect, test } from '@jest/globals';
import { retryAfterMs } from '../../../verification/http/retry-after.ts';
import { type Retries, retryingClient } from './retrying-client.ts';

const retries: Retries = { maxRetries: 3, retryDelayMs: 10, maxRetryDelayMs: 20, budgetMs: 1_000 };

interface Answer {
  status?: number;
  headers?: Record<string, string>;
}

/**
 * Sends a request to a server with these answers in turn; no status is no response. Returns the last outcome and the
 * number of requests.
 */
async function send(
  answers: Answer[],
  over: { method?: HttpMethods; form?: boolean } & Partial<Retries> = {},
) {
  const { method = 'GET', form = false, ...changed } = over;
  let requests = 0;
  const client = retryingClient(
    {
      sendRequest: async (request) => {
        const { status, headers = {} } = answers[Math.min(requests, answers.length - 1)]!;
        requests += 1;
        if (status === undefined) throw new RestError('no response', { code: RestError.REQUEST_SEND_ERROR });
        return { request, status, headers: createHttpHeaders(headers) };
      },
    },
    { ...retries, ...changed },
  );
  const headers = createHttpHeaders(
    form ? { 'content-type': 'application/x-www-form-urlencoded;charset=utf-8' } : {},
  );
  const request = createPipelineRequest({ url: 'https://x/', method, headers });
  const begun = performance.now();
  const outcome = await client.sendRequest(request).then(
    ({ status }) => status,
    () => 'none',
  );
  return { outcome, requests, ms: performance.now() - begun };
}

describe('a request', () => {
  test.each([
    ['no response', [{}, { status: 200 }], 200, 2],
    ['429', [{ status: 429 }, { status: 200 }], 200, 2],
    ['503 each time', [{ status: 503 }], 503, 4],
    ['no response each time', [{}], 'none', 4],
    ['403', [{ status: 403 }], 403, 1],
    ['404', [{ status: 404 }], 404, 1],
  ] as const)('is repeated only after a temporary failure: %s', async (_what, answers, outcome, requests) => {
    expect(await send([...answers])).toMatchObject({ outcome, requests });
  });

  test('that may have had an effect is repeated only if it was throttled', async () => {
    expect(await send([{ status: 503 }], { method: 'POST' })).toMatchObject({ requests: 1 });
    expect(await send([{}], { method: 'POST' })).toMatchObject({ requests: 1 });
    expect(await send([{ status: 429 }], { method: 'POST' })).toMatchObject({ requests: 4 });
    expect(await send([{ status: 503 }], { method: 'POST', form: true })).toMatchObject({ requests: 4 });
  });

  test('waits longer each time, up to a maximum', async () => {
    const { ms } = await send([{ status: 503 }], { retryDelayMs: 50, maxRetryDelayMs: 100 });
    expect(ms).toBeGreaterThan(0.8 * (50 + 100 + 100) - 5);
  });

  test.each([
    ['the delay', { retryDelayMs: 5_000, maxRetryDelayMs: 5_000 }, {}],
    ['Retry-After', {}, { 'retry-after': '30' }],
  ])('fails at once if %s exceeds the budget', async (_what, over, headers) => {
    const { requests, ms } = await send([{ status: 429, headers }], over);
    expect(requests).toBe(1);
    expect(ms).toBeLessThan(4_000); // it did not wait
  });
});

test.each([
  ['2', 2_000],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 9_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['soon', undefined],
])('Retry-After: %s is understood', (text, expected) => {
  expect(retryAfterMs({ headers: createHttpHeaders({ 'retry-after': text }) }, 1_000)).toBe(expected);
});
