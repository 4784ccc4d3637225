import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type AddressRanges,
  type Authenticator,
  type Decision,
  type OwningService,
  ownerOf,
} from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import { bodyBudgets, requireWithin, type ServeRequest, type WhyForeign } from '@secrets/http';
import { type Audit, type Span, traced } from '@secrets/telemetry';
import type { AuditHash } from './audit/audit-hash.ts';
import { type AuditTrail, beginTrail } from './audit/audit-trail.ts';
import { decidedRequest, unparsedRequest } from './audit/audited-request.ts';
import type { Health } from './local/health.ts';
import { statusOfHealth } from './local/health-status.ts';
import { serveLocally } from './local/serve-locally.ts';
import {
  addressOf,
  type GatewayRequest,
  healthPath,
  rawPath,
  requestIdOf,
  toGatewayRequest,
  withPath,
} from './request/gateway-request.ts';
import { type BodyReader, ClientDisconnected } from './request/read-body.ts';
import { requireConditions } from './request/require-conditions.ts';
import { failureStatus, sendFailure, sendJson } from './send-response.ts';
import { isLong, type LongResponses, withLastEventId } from './streams/long-responses.ts';
import { isSubscription, subscribe } from './streams/websocket/subscribe.ts';
import type { GatewayMetrics } from './telemetry/gateway-metrics.ts';
import { endSpan, spanOf } from './telemetry/request-span.ts';
import type { ServiceOutcome } from './upstream/relayed-response.ts';
import type { Upstream } from './upstream/upstream.ts';
import { forwardWrapped, type ResponseStore } from './wrapping/forward-wrapped.ts';
import { wrapSecondsOf } from './wrapping/wrap-ttl.ts';

export interface GatewayContext {
  origin: {
    trustedProxies: AddressRanges;
    /** Why a request by a foreign name, or of a page of another site, is refused. */
    whyForeign: WhyForeign;
  };
  authenticator: Authenticator;
  audit: { log: Audit; hash: AuditHash };
  bodies: BodyReader;
  responders: {
    local: { health(): Promise<Health>; serve: ServeRequest };
    upstreams: Record<OwningService, Upstream>;
    long: LongResponses;
    subscriptions: LongResponses;
    wrapped: ResponseStore;
  };
  observe: { metrics: GatewayMetrics; failure(failure: unknown, requestId: string): void };
}

/** The state of a request in progress, for its metrics and its audit lines. */
interface Progress {
  requestId: string;
  operation: string;
  upstream: string;
  started: number;
  /** Undefined before the first line is written, and for a request that is not audited. */
  trail: AuditTrail | undefined;
}

const clientClosed = 499;

/**
 * Handles one request: authorizes it, writes its audit line, and only then reads the body and forwards it. The line of
 * the outcome precedes the response.
 */
export function requestHandler(context: GatewayContext) {
  const handle = async (
    request: IncomingMessage,
    response: ServerResponse,
    span: Span | undefined,
  ): Promise<void> => {
    const started = performance.now();
    const unknown = { operation: 'unknown', upstream: 'gateway', trail: undefined };
    const progress: Progress = { requestId: requestIdOf(request), started, ...unknown };
    const status = await respond(context, request, response, progress).catch((failure: unknown) =>
      handleFailure(context, response, progress, failure),
    );
    const seconds = (performance.now() - started) / 1_000;
    context.observe.metrics.finished(progress.operation, progress.upstream, status, seconds);
    if (span !== undefined) endSpan(span, progress, status);
  };
  return (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    traced(
      () => spanOf(request),
      (span) => handle(request, response, span),
    );
}

async function respond(
  context: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
  progress: Progress,
): Promise<number> {
  const parsed = await parseRequest(context, request, progress);
  if (isHealthCheck(parsed)) return sendHealth(context, response, parsed);
  const { caller, conditions, path } = await authorize(context, parsed, progress);
  const gatewayRequest = withLastEventId(withPath(parsed, path), request.headers);
  const wrapSeconds = wrapSecondsOf(request.headers, gatewayRequest.path);
  const body =
    gatewayRequest.method === 'GET'
      ? undefined
      : await context.bodies.read(request, response, bodyHolder(caller, gatewayRequest));
  requireWithin(caller.tokenType === null ? bodyBudgets.open : bodyBudgets.secret, body);
  requireConditions(conditions, { gatewayRequest, body, wrapSeconds });
  const name = ownerOf(gatewayRequest.path);
  if (name === undefined) throw new Problem('not_found', 'no such path');
  progress.upstream = name;
  const contentType = request.headers['content-type'];
  const record = (outcome: ServiceOutcome) => recordOutcome(context, progress, outcome);
  const forwarded = { gatewayRequest, caller, contentType, body, record };
  const { local, upstreams, long, subscriptions, wrapped } = context.responders;
  if (name === 'gateway') return serveLocally(local.serve, { ...forwarded, wrapSeconds }, response);
  const upstream = upstreams[name];
  if (isSubscription(gatewayRequest))
    return subscribe({ request: forwarded, wrapSeconds, upstream, long: subscriptions }, response);
  if (isLong(gatewayRequest)) {
    const refusal = long.begin({ gatewayRequest, caller, wrapSeconds }, response);
    return upstream.forward({ ...forwarded, refusal }, response);
  }
  if (wrapSeconds === undefined) return upstream.forward(forwarded, response);
  return forwardWrapped({ request: forwarded, wrapSeconds, upstream, store: wrapped }, response);
}

const bodyHolder = ({ tokenType, accessor }: Caller, { remoteAddress, token }: GatewayRequest) =>
  tokenType === null
    ? { key: remoteAddress, isPublic: true }
    : { key: accessor ?? token ?? remoteAddress, isPublic: false };

/** Parses the request line and the headers. A request that cannot be parsed is refused, with audit lines. */
async function parseRequest(
  { audit, origin: { trustedProxies, whyForeign } }: GatewayContext,
  request: IncomingMessage,
  progress: Progress,
): Promise<GatewayRequest> {
  const { requestId, started } = progress;
  const remoteAddress = addressOf(request, trustedProxies);
  try {
    // Load balancers check the health by the address of a node.
    const isHealth = request.method !== 'POST' && rawPath(request) === `/v1/${healthPath}`;
    const reason = isHealth ? undefined : whyForeign(request);
    if (reason !== undefined) throw new Problem('forbidden', reason);
    const gatewayRequest = toGatewayRequest(request, requestId, remoteAddress);
    progress.operation = gatewayRequest.operation;
    return gatewayRequest;
  } catch (problem) {
    const known = { request_id: requestId, remote_address: remoteAddress, path: rawPath(request) };
    progress.trail = await beginTrail(audit.log, unparsedRequest(known), reasonOf(problem), started);
    throw problem;
  }
}

/** Checks the permission and writes the audit line in one step, before anything else happens. */
async function authorize(
  { authenticator, audit, observe }: GatewayContext,
  gatewayRequest: GatewayRequest,
  progress: Progress,
): Promise<Extract<Decision, { allowed: true }>> {
  const decision = await authenticator.authenticate(gatewayRequest);
  const line = decidedRequest(withPath(gatewayRequest, decision.path), decision, audit.hash);
  if (line.policies.includes('root')) observe.metrics.usedRootToken();
  const reason = decision.allowed ? null : reasonOf(decision.problem);
  progress.trail = await beginTrail(audit.log, line, reason, progress.started);
  if (!decision.allowed) throw decision.problem;
  return decision;
}

async function recordOutcome(
  { audit: { hash } }: GatewayContext,
  { trail }: Progress,
  { status, reason, issued }: ServiceOutcome,
): Promise<void> {
  const hashes = issued && hash.ofCaller(issued.token, issued.accessor ?? null);
  const wrapped = issued?.wrappedAccessor === undefined ? undefined : hash.of(issued.wrappedAccessor);
  await trail?.end({ status, reason, issued: hashes, wrappedAccessor: wrapped });
}

const maxReason = 500;

/** The sentences that the client receives, which may contain what it sent; null if there are none. */
const reasonOf = (failure: unknown): string | null =>
  failure instanceof Problem ? failure.sentences.join('; ').slice(0, maxReason) || null : 'internal error';

async function handleFailure(
  context: GatewayContext,
  response: ServerResponse,
  { requestId, trail }: Progress,
  failure: unknown,
): Promise<number> {
  context.observe.failure(failure, requestId);
  const isGone = failure instanceof ClientDisconnected || response.headersSent || response.destroyed;
  const outcome = isGone
    ? { status: clientClosed, reason: 'the client disconnected' }
    : { status: failureStatus(failure), reason: reasonOf(failure) };
  try {
    await trail?.end(outcome);
  } catch (auditFailure) {
    context.observe.failure(auditFailure, requestId);
    return isGone ? clientClosed : sendFailure(response, requestId, auditFailure);
  }
  return isGone ? clientClosed : sendFailure(response, requestId, failure);
}

/** Load balancers check health every second: these requests are not audited, and succeed if the audit fails. */
const isHealthCheck = ({ path, operation }: GatewayRequest): boolean =>
  path === healthPath && operation === 'read';

async function sendHealth(
  { responders }: GatewayContext,
  response: ServerResponse,
  { requestId, forwardQuery }: GatewayRequest,
): Promise<number> {
  const health = await responders.local.health();
  return sendJson(response, requestId, statusOfHealth(health, forwardQuery), health);
}
