import type { EventEmitter } from 'node:events';
import { type IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Authenticator } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid, Problem } from '@secrets/domain';
import type { GatewayRequest } from '../request/gateway-request.ts';

/** Maximum number of clients through this gateway, of one namespace other than the root namespace, and with one token. */
interface Limits {
  all: number;
  ofNamespace: number;
  ofToken: number;
}

/** For those that follow events, or wait. */
export const longLimits: Limits = { all: 256, ofNamespace: 128, ofToken: 16 };
/** For those that listen to changes of secrets: Vault Secrets Operator has a connection for each secret, with the same token. */
export const subscriptionLimits: Limits = { all: 1_000, ofNamespace: 500, ofToken: 250 };

/** Maximum time that a response continues after its token has ended or its policies have changed. */
const reviewMs = 1_000;

/**
 * For how many reviews in succession the database may be out of reach before a response ends. Without it no token can be revoked
 * either, and all clients that connect again at once would be the next trouble.
 */
const outageReviews = 10;

const isEventStream = ({ path, operation }: Pick<GatewayRequest, 'path' | 'operation'>): boolean =>
  path === 'sys/sync/events' && operation === 'read';

/** Whether the client waits for a version to arrive (docs/conventions/sync.md#waiting-for-a-version). */
const isWait = ({ path, operation, forwardQuery }: GatewayRequest): boolean =>
  path.startsWith('sys/sync/associations/') &&
  operation === 'read' &&
  new URLSearchParams(forwardQuery).has('wait');

/** Whether the response to a request may take minutes. */
export const isLong = (request: GatewayRequest): boolean => isEventStream(request) || isWait(request);

/** A client that resumes a stream says in a header where, which the service receives in the query. */
export function withLastEventId(request: GatewayRequest, headers: IncomingHttpHeaders): GatewayRequest {
  const lastId = String(headers['last-event-id'] ?? '');
  if (lastId === '' || !isEventStream(request)) return request;
  return { ...request, forwardQuery: `?after=${encodeURIComponent(lastId)}` };
}

/** A response, or a WebSocket: emits `close`, and `stopping` when the gateway stops. */
interface LongResponse extends Pick<EventEmitter, 'once'> {
  /** Whether it has begun. */
  readonly headersSent: boolean;
  end(problem?: Problem): unknown;
}

/** A request with a long response, as it was authorized. */
interface LongRequest {
  gatewayRequest: GatewayRequest;
  caller: Caller;
  wrapSeconds: number | undefined;
}

type Open = LongRequest & {
  refusal: AbortController;
  /** The last reviews in succession that found the database out of reach. */
  unreviewed: number;
};

/**
 * The streams of events, and the responses for which a client waits, that pass through this gateway. Each ends when its token
 * does, and when other policies apply to it: the service that responds knows those from the beginning of the request, and
 * follows only their content. The client then connects again, or asks again.
 */
export class LongResponses {
  readonly #authenticator: Pick<Authenticator, 'review'>;
  readonly #observe: (count: number) => void;
  readonly #limits: Limits;
  readonly #open = new Map<LongResponse, Open>();
  #timer: NodeJS.Timeout | undefined;

  /** @param observe is called with the number of open responses whenever it changes */
  constructor(
    authenticator: Pick<Authenticator, 'review'>,
    observe: (count: number) => void,
    limits = longLimits,
  ) {
    this.#authenticator = authenticator;
    this.#observe = observe;
    this.#limits = limits;
  }

  /**
   * Admits a request until its response is closed, and ends it in time. Returns a signal for when it is to be refused because the
   * service has not begun to respond; the reason is a problem.
   * @throws a problem: `rate_limited` if there are too many, `invalid` if the response is to be wrapped
   */
  begin(request: LongRequest, response: LongResponse): AbortSignal {
    if (request.wrapSeconds !== undefined)
      throw invalid('a stream of events, or a response to a wait, cannot be wrapped');
    if (this.#open.size >= this.#limits.all) throw tooMany('');
    const { token } = request.gatewayRequest;
    const { id: namespaceId, path: namespace } = request.caller.namespace;
    const others = [...this.#open.values()];
    const ofToken = others.filter(({ gatewayRequest }) => gatewayRequest.token === token);
    if (ofToken.length >= this.#limits.ofToken) throw tooMany('with this token');
    const ofNamespace = others.filter(({ caller }) => caller.namespace.id === namespaceId);
    if (namespace !== '' && ofNamespace.length >= this.#limits.ofNamespace)
      throw tooMany('in this namespace');
    const open = { ...request, refusal: new AbortController(), unreviewed: 0 };
    this.#open.set(response, open);
    this.#changed();
    response.once('close', () => {
      this.#open.delete(response);
      this.#changed();
    });
    response.once('stopping', () => end(response, open, stopping()));
    return open.refusal.signal;
  }

  #changed(): void {
    this.#observe(this.#open.size);
    if (this.#open.size > 0) this.#timer ??= setInterval(() => void this.#review(), reviewMs).unref();
    else clearInterval(this.#timer);
    if (this.#open.size === 0) this.#timer = undefined;
  }

  /** The caches of the authenticator make this one statement, however many streams there are, as long as nothing has changed. */
  async #review(): Promise<void> {
    const reviews = [...this.#open].map(async ([response, open]) => {
      const { gatewayRequest, caller } = open;
      const namespace = caller.namespace.path;
      const decision = await this.#authenticator.review({ ...gatewayRequest, namespace });
      if (!decision.allowed) {
        open.unreviewed = isOutage(decision.problem) ? open.unreviewed + 1 : outageReviews;
        if (open.unreviewed >= outageReviews) end(response, open, decision.problem);
        return;
      }
      open.unreviewed = 0;
      if (isOther(decision.caller, caller)) end(response, open, changed());
    });
    await Promise.all(reviews);
  }
}

function end(response: LongResponse, { refusal }: Open, problem: Problem): void {
  if (response.headersSent) endWith(response, problem);
  else refusal.abort(problem);
}

function endWith(response: LongResponse, problem: Problem): void {
  if (response instanceof ServerResponse) response.end();
  else response.end(problem);
}

const isOutage = ({ kind }: Problem): boolean => kind === 'unavailable';

const stopping = () => new Problem('unavailable', 'the gateway is stopping; try again');

const changed = () => new Problem('unavailable', 'other policies apply to the token now; try again');

/** Whether other policies apply to the caller than before. Their content is not compared. */
const isOther = (now: Caller, before: Caller): boolean => identityOf(now) !== identityOf(before);

const identityOf = ({ policies, identityPolicies, entityId, namespace, tokenNamespace }: Caller): string =>
  JSON.stringify([policies, identityPolicies, entityId, namespace.id, tokenNamespace.id]);

const tooMany = (whose: string) =>
  new Problem('rate_limited', ['too many streams of events and waits', whose].filter(Boolean).join(' '), {
    retryAfterSeconds: 10,
  });
