import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Authenticator } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid, Problem } from '@secrets/domain';
import type { GatewayRequest } from '../request/gateway-request.ts';

/** Maximum number of clients that follow events through this gateway, and with one token. */
export const maxStreams = 256;
const maxStreamsOfToken = 16;

/** Maximum time that a stream continues after its token has ended or its policies have changed. */
const reviewMs = 1_000;

export const isEventStream = ({ path, operation }: Pick<GatewayRequest, 'path' | 'operation'>): boolean =>
  path === 'sys/sync/events' && operation === 'read';

/** A client that resumes a stream says in a header where, which the service receives in the query. */
export function withLastEventId(request: GatewayRequest, headers: IncomingHttpHeaders): GatewayRequest {
  const lastId = String(headers['last-event-id'] ?? '');
  if (lastId === '' || !isEventStream(request)) return request;
  return { ...request, forwardQuery: `?after=${encodeURIComponent(lastId)}` };
}

/** A request for events, as it was authorized. */
interface Followed {
  gatewayRequest: GatewayRequest;
  caller: Caller;
  wrapSeconds: number | undefined;
}

/**
 * The streams of events that pass through this gateway. Each ends when its token does, and when other policies apply to
 * it: whoever sends the events knows those from the beginning of the stream, and follows only their content. The client
 * then connects again.
 */
export class EventStreams {
  readonly #authenticator: Pick<Authenticator, 'review'>;
  readonly #observe: (count: number) => void;
  readonly #open = new Map<ServerResponse, Followed>();
  #timer: NodeJS.Timeout | undefined;

  /** @param observe is called with the number of streams whenever it changes */
  constructor(authenticator: Pick<Authenticator, 'review'>, observe: (count: number) => void) {
    this.#authenticator = authenticator;
    this.#observe = observe;
  }

  /**
   * Admits a stream, until its response is closed, and ends it in time.
   * @throws a problem: `rate_limited` if there are too many, `invalid` if the response is to be wrapped
   */
  begin(followed: Followed, response: ServerResponse): void {
    if (followed.wrapSeconds !== undefined) throw invalid('a stream of events cannot be wrapped');
    if (this.#open.size >= maxStreams) throw tooMany('');
    const { token } = followed.gatewayRequest;
    const ofToken = [...this.#open.values()].filter(({ gatewayRequest }) => gatewayRequest.token === token);
    if (ofToken.length >= maxStreamsOfToken) throw tooMany('with this token');
    this.#open.set(response, followed);
    this.#changed();
    response.once('close', () => {
      this.#open.delete(response);
      this.#changed();
    });
    response.once('stopping', () => end(response));
  }

  #changed(): void {
    this.#observe(this.#open.size);
    if (this.#open.size > 0) this.#timer ??= setInterval(() => void this.#review(), reviewMs).unref();
    else clearInterval(this.#timer);
    if (this.#open.size === 0) this.#timer = undefined;
  }

  /** The caches of the authenticator make this one statement, however many streams there are, as long as nothing has changed. */
  async #review(): Promise<void> {
    const reviews = [...this.#open].map(async ([response, { gatewayRequest, caller }]) => {
      const namespace = caller.namespace.path;
      const decision = await this.#authenticator.review({ ...gatewayRequest, namespace });
      if (!decision.allowed || isOther(decision.caller, caller)) end(response);
    });
    await Promise.all(reviews);
  }
}

/** One that has not begun gets no response: nothing can be said any more once the outcome is recorded. */
function end(response: ServerResponse): void {
  if (response.headersSent) response.end();
  else response.destroy();
}

/** Whether other policies apply to the caller than before. Their content is not compared. */
const isOther = (now: Caller, before: Caller): boolean => identityOf(now) !== identityOf(before);

const identityOf = ({ policies, identityPolicies, entityId, namespace, tokenNamespace }: Caller): string =>
  JSON.stringify([policies, identityPolicies, entityId, namespace.id, tokenNamespace.id]);

const tooMany = (whose: string) =>
  new Problem('rate_limited', ['too many streams of events', whose].filter(Boolean).join(' '), {
    retryAfterSeconds: 10,
  });
