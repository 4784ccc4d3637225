import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Api, client } from '../harness/http.ts';

const retryMs = 100;
const timeoutMs = 120_000;

/** A client that repeats a request until it succeeds, and counts the refusals. */
export class RetryingClient {
  /** How many requests were refused or failed, by status; 0 is a failed connection. */
  readonly refusals: Record<number, number> = {};
  /** Refusals whose body is not that of our errors. */
  readonly malformed: Answer[] = [];
  readonly #api: Api;

  constructor(to: Api | { url: string; rootToken: string }) {
    this.#api = typeof to === 'function' ? to : client(to.url, to.rootToken);
  }

  /** Throws if the request does not succeed within two minutes. */
  readonly request: Api = async (method, path, body) => {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const answer = await this.#api(method, path, body).catch(() => ({ status: 0, body: undefined }));
      if (answer.status >= 200 && answer.status < 300) return answer;
      this.#count(answer);
      if (Date.now() > deadline)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      await sleep(retryMs);
    }
  };

  #count(answer: Answer): void {
    this.refusals[answer.status] = (this.refusals[answer.status] ?? 0) + 1;
    if (answer.status !== 0 && !Array.isArray(answer.body?.errors)) this.malformed.push(answer);
  }
}
