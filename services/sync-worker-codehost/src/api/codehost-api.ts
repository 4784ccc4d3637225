import { Octokit } from '@octokit/rest';
import { Fault } from '@secrets/domain';
import { withFaults } from './call-faults.ts';
import type { Tokens } from './tokens.ts';

export interface CallOptions {
  headers: { authorization: string; 'x-github-api-version': string };
  request: { signal: AbortSignal };
}

/** The client writes to the console by default. Its messages contain URLs and no values, but are not ours. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const apiVersion = '2022-11-28';

/** Returns the provider's client, without credentials. It neither retries nor waits for limits. */
export const openOctokit = (baseUrl: string, fetch: typeof globalThis.fetch): Octokit =>
  new Octokit({ baseUrl, log: silent, request: { fetch, log: silent } });

/** Makes calls with the destination's credentials. */
export class CodehostApi {
  readonly #octokit: Octokit;
  readonly #tokens: Tokens;

  constructor(octokit: Octokit, tokens: Tokens) {
    this.#octokit = octokit;
    this.#tokens = tokens;
  }

  /**
   * Makes a call, which the signal aborts; its failures are `Fault`s. With a token that is refused because it has
   * expired or was withdrawn, the call is made once more with a new one.
   */
  async call<Result>(
    operation: string,
    signal: AbortSignal,
    send: (octokit: Octokit, options: CallOptions) => Promise<Result>,
  ): Promise<Result> {
    const token = await this.#tokens.current(signal);
    const sendWith = (used: string) =>
      withFaults(operation, () => send(this.#octokit, optionsOf(used, signal)));
    try {
      return await sendWith(token);
    } catch (error) {
      const replacement = isRefused(error) ? await this.#tokens.replacementFor(token, signal) : undefined;
      if (replacement === undefined) throw error;
      return sendWith(replacement);
    }
  }

  /** Reads a resource with its entity tag; undefined if it still has the given one. */
  async readIfChanged(
    operation: string,
    path: string,
    etag: string | undefined,
    signal: AbortSignal,
  ): Promise<{ data: unknown; etag: string | undefined } | undefined> {
    return this.call(operation, signal, async (octokit, { headers, request }) => {
      const condition = etag === undefined ? {} : { 'if-none-match': etag };
      try {
        const answer = await octokit.request(`GET ${path}`, {
          headers: { ...headers, ...condition },
          request,
        });
        return { data: answer.data, etag: answer.headers.etag };
      } catch (error) {
        if (etag !== undefined && isNotModified(error)) return undefined;
        throw error;
      }
    });
  }
}

/** The provider's client reports the response as an error. */
const isNotModified = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && error.status === 304;

const optionsOf = (token: string, signal: AbortSignal): CallOptions => ({
  headers: { authorization: `Bearer ${token}`, 'x-github-api-version': apiVersion },
  request: { signal },
});

const isRefused = (error: unknown): boolean => error instanceof Fault && error.kind === 'unauthenticated';
