import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressRanges, Authenticator, Caller, Decision } from '@secrets/access';
import { Problem } from '@secrets/domain';
import type { Audit } from '@secrets/telemetry';
import { type AskedRequest, addressOf, askedRequest, rawPath, requestIdOf } from './asked-request.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { type Health, healthPath } from './health.ts';
import type { RefuseFilledNamespace } from './namespace-left.ts';
import { ClientGone, readBody } from './read-body.ts';
import { type UpstreamName, upstreamFor } from './routing.ts';
import { sendFailure, sendJson } from './send-answer.ts';
import type { Upstream } from './upstream.ts';

export interface GatewayParts {
  authenticator: Authenticator;
  audit: Audit;
  upstreams: Record<UpstreamName, Upstream>;
  refuseFilledNamespace: RefuseFilledNamespace;
  own: { health(): Promise<Health>; description(): Promise<unknown> };
  trustedProxies: AddressRanges;
  observe: { metrics: GatewayMetrics; failure(failure: unknown, requestId: string): void };
}

/** What is known of a request under way, for its metrics. */
interface Progress {
  requestId: string;
  operation: string;
  upstream: string;
}

const clientClosed = 499;

/** Handles one request from its first line to its answer: judge, write the audit, only then read the body and forward. */
export function requestHandler(parts: GatewayParts) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = performance.now();
    const progress: Progress = { requestId: requestIdOf(request), operation: 'unknown', upstream: 'gateway' };
    const status = await answer(parts, request, response, progress).catch((failure: unknown) =>
      answerFailure(parts, response, progress.requestId, failure),
    );
    const seconds = (performance.now() - started) / 1_000;
    parts.observe.metrics.finished(progress.operation, progress.upstream, status, seconds);
  };
}

async function answer(
  parts: GatewayParts,
  request: IncomingMessage,
  response: ServerResponse,
  progress: Progress,
): Promise<number> {
  const asked = await understood(parts, request, progress);
  if (asksForHealth(asked)) return answerHealth(parts, response, progress.requestId);
  const caller = await admitted(parts, asked);
  if (asked.path === descriptionPath)
    return sendJson(response, progress.requestId, 200, await parts.own.description());
  const name = upstreamFor(asked.path);
  if (name === undefined) throw new Problem('not_found', 'no such path');
  progress.upstream = name;
  await parts.refuseFilledNamespace(asked, caller);
  const body = asked.method === 'GET' ? undefined : await readBody(request);
  const contentType = request.headers['content-type'];
  return parts.upstreams[name].forward({ asked, caller, contentType, body }, response);
}

/** Reads the request's head; what cannot be understood is refused, and the audit says so. */
async function understood(
  parts: GatewayParts,
  request: IncomingMessage,
  progress: Progress,
): Promise<AskedRequest> {
  const { requestId } = progress;
  const remoteAddress = addressOf(request, parts.trustedProxies);
  try {
    const asked = askedRequest(request, requestId, remoteAddress);
    progress.operation = asked.operation;
    return asked;
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
    await parts.audit.write({ ...who, ...what });
    throw problem;
  }
}

/** The one door: permission and audit in one step. Nothing else has happened before. */
async function admitted({ authenticator, audit }: GatewayParts, asked: AskedRequest): Promise<Caller> {
  const decision = await authenticator.authenticate(asked);
  await audit.write(auditLine(asked, decision));
  if (!decision.allowed) throw decision.problem;
  return decision.caller;
}

function auditLine(asked: AskedRequest, decision: Decision) {
  const { caller } = decision;
  return {
    request_id: asked.requestId,
    remote_address: asked.remoteAddress,
    namespace: caller.namespace.path,
    operation: asked.operation,
    path: asked.path,
    accessor: caller.accessor,
    display_name: caller.displayName === '' ? null : caller.displayName,
    policies: caller.policies,
    allowed: decision.allowed,
    reason: decision.allowed ? null : reasonOf(decision.problem),
  };
}

const reasonOf = (failure: unknown): string =>
  failure instanceof Problem ? failure.message : 'not understood';

function answerFailure(
  parts: GatewayParts,
  response: ServerResponse,
  requestId: string,
  failure: unknown,
): number {
  parts.observe.failure(failure, requestId);
  if (failure instanceof ClientGone || response.headersSent || response.destroyed) return clientClosed;
  return sendFailure(response, requestId, failure);
}

const descriptionPath = 'sys/internal/specs/openapi';

/** Asked for by balancers every second: not audited, and not dependent on the audit. */
const asksForHealth = ({ path, operation }: AskedRequest): boolean =>
  path === healthPath && operation === 'read';

async function answerHealth(
  { own }: GatewayParts,
  response: ServerResponse,
  requestId: string,
): Promise<number> {
  const health = await own.health();
  return sendJson(response, requestId, health.ready ? 200 : 503, health);
}
