import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Api, client } from '../../harness/http.ts';

const retryMs = 100;
const timeoutMs = 120_000;

const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;
const isGoing = ({ status, body }: Answer): boolean =>
  status === 404 || (status === 409 && /being purged/.test(body?.errors?.[0]));

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
  readonly request: Api = (method, path, body) => this.#until(isSuccess, method, path, body);

  /** The same for an object that may disappear meanwhile: 404 is an answer too, and the refusal during a purge. */
  readonly requestUnlessGone: Api = (method, path, body) =>
    this.#until((answer) => isSuccess(answer) || isGoing(answer), method, path, body);

  async #until(
    isOver: (answer: Answer) => boolean,
    ...[method, path, body]: Parameters<Api>
  ): Promise<Answer> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const answer = await this.#api(method, path, body).catch(() => ({ status: 0, body: undefined }));
      if (isOver(answer)) return answer;
      this.#count(answer);
      if (Date.now() > deadline)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      await sleep(retryMs);
    }
  }

  #count(answer: Answer): void {
    this.refusals[answer.status] = (this.refusals[answer.status] ?? 0) + 1;
    if (answer.status !== 0 && !Array.isArray(answer.body?.errors)) this.malformed.push(answer);
  }
}
