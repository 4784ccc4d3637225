import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type AddressRanges,
  type Authenticator,
  type Decision,
  type OwningService,
  ownerOf,
} from '@secrets/access';
import { type Caller, effectivePolicies } from '@secrets/caller';
import { Problem, pathNames } from '@secrets/domain';
import type { InternalClient } from '@secrets/http';
import type { Audit } from '@secrets/telemetry';
import type { GatewayMetrics } from './gateway-metrics.ts';
import type { Health } from './own/health.ts';
import { descriptionPath, healthPath } from './own/own-paths.ts';
import {
  addressOf,
  type GatewayRequest,
  rawPath,
  requestIdOf,
  toGatewayRequest,
} from './request/gateway-request.ts';
import { ClientDisconnected, readBody } from './request/read-body.ts';
import { sendFailure, sendJson } from './send-response.ts';
import type { Upstream } from './upstream/upstream.ts';
import { forwardWrapped } from './wrapping/forward-wrapped.ts';
import { wrapSecondsOf } from './wrapping/wrap-ttl.ts';

export interface GatewayContext {
  authenticator: Authenticator;
  audit: Audit;
  upstreams: Record<OwningService, Upstream>;
  /** For requests of the gateway itself. */
  login: InternalClient;
  own: { health(): Promise<Health>; description(): Promise<unknown> };
  trustedProxies: AddressRanges;
  observe: { metrics: GatewayMetrics; failure(failure: unknown, requestId: string): void };
}

/** What is known so far about a request, for its metrics. */
interface Progress {
  requestId: string;
  operation: string;
  upstream: string;
}

const clientClosed = 499;

/** Handles one request: authorizes it, writes the audit line, and only then reads the body and forwards it. */
export function requestHandler(context: GatewayContext) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = performance.now();
    const progress: Progress = { requestId: requestIdOf(request), operation: 'unknown', upstream: 'gateway' };
    const status = await respond(context, request, response, progress).catch((failure: unknown) =>
      handleFailure(context, response, progress.requestId, failure),
    );
    const seconds = (performance.now() - started) / 1_000;
    context.observe.metrics.finished(progress.operation, progress.upstream, status, seconds);
  };
}

async function respond(
  context: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
  progress: Progress,
): Promise<number> {
  const gatewayRequest = await parseRequest(context, request, progress);
  if (isHealthCheck(gatewayRequest)) return sendHealth(context, response, progress.requestId);
  const caller = await authorize(context, gatewayRequest);
  if (gatewayRequest.path === descriptionPath)
    return sendJson(response, progress.requestId, 200, await context.own.description());
  const name = ownerOf(gatewayRequest.path);
  if (name === undefined) throw new Problem('not_found', 'no such path');
  progress.upstream = name;
  const wrapSeconds = wrapSecondsOf(request.headers, gatewayRequest.path);
  const body = gatewayRequest.method === 'GET' ? undefined : await readBody(request);
  const contentType = request.headers['content-type'];
  const forwarded = { gatewayRequest, caller, contentType, body };
  const upstream = context.upstreams[name];
  if (wrapSeconds === undefined) return upstream.forward(forwarded, response);
  return forwardWrapped({ request: forwarded, wrapSeconds, upstream, login: context.login }, response);
}

/** Parses the request line and the headers. A request that cannot be parsed is refused, with an audit line. */
async function parseRequest(
  context: GatewayContext,
  request: IncomingMessage,
  progress: Progress,
): Promise<GatewayRequest> {
  const { requestId } = progress;
  const remoteAddress = addressOf(request, context.trustedProxies);
  try {
    const gatewayRequest = toGatewayRequest(request, requestId, remoteAddress);
    progress.operation = gatewayRequest.operation;
    return gatewayRequest;
  } catch (problem) {
    const { operation } = progress;
    const who = {
      request_id: requestId,
      remote_address: remoteAddress,
      namespace: '',
      accessor: null,
      display_name: null,
    };
    const what = {
      operation,
      path: rawPath(request),
      policies: [],
      allowed: false,
      reason: reasonOf(problem),
    };
    await context.audit.write({ ...who, ...what });
    throw problem;
  }
}

/** Checks the permission and writes the audit line in one step, before anything else happens. */
async function authorize(
  { authenticator, audit }: GatewayContext,
  gatewayRequest: GatewayRequest,
): Promise<Caller> {
  const decision = await authenticator.authenticate(gatewayRequest);
  await audit.write(auditLine(gatewayRequest, decision));
  if (!decision.allowed) throw decision.problem;
  return decision.caller;
}

function auditLine(gatewayRequest: GatewayRequest, decision: Decision) {
  const { caller } = decision;
  const { path } = pathNames(gatewayRequest.path);
  return {
    request_id: gatewayRequest.requestId,
    remote_address: gatewayRequest.remoteAddress,
    namespace: caller.namespace.path,
    operation: gatewayRequest.operation,
    path: gatewayRequest.path,
    ...(path === gatewayRequest.path ? {} : { resolved_path: path }),
    accessor: caller.accessor,
    display_name: caller.displayName === '' ? null : caller.displayName,
    policies: effectivePolicies(caller),
    allowed: decision.allowed,
    reason: decision.allowed ? null : reasonOf(decision.problem),
  };
}

const reasonOf = (failure: unknown): string =>
  failure instanceof Problem ? failure.message : 'internal error';

function handleFailure(
  context: GatewayContext,
  response: ServerResponse,
  requestId: string,
  failure: unknown,
): number {
  context.observe.failure(failure, requestId);
  if (failure instanceof ClientDisconnected || response.headersSent || response.destroyed)
    return clientClosed;
  return sendFailure(response, requestId, failure);
}

/** Load balancers check health every second: these requests are not audited, and succeed if the audit fails. */
const isHealthCheck = ({ path, operation }: GatewayRequest): boolean =>
  path === healthPath && operation === 'read';

async function sendHealth(
  { own }: GatewayContext,
  response: ServerResponse,
  requestId: string,
): Promise<number> {
  const health = await own.health();
  return sendJson(response, requestId, health.ready ? 200 : 503, health);
}
