import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Lag } from '../../../faults/fault-injector.ts';
import type { HttpResponse } from '../../../simulation/http-response.ts';
import { type CallContext, serveCall } from '../../../simulation/serve-call.ts';
import { CodehostError } from '../codehost-error.ts';
import { verifyAppJwt } from '../credentials/app-key.ts';
import { type Callers, tokenIn } from '../credentials/callers.ts';
import type { RateLimits } from '../credentials/rate-limits.ts';
import type { OperationContext, OperationRequest } from '../operations/operation.ts';
import { codehostErrors, errorResponse } from './codehost-protocol.ts';
import type { NamedOperation } from './codehost-routes.ts';

/** The state of the simulated code host that its endpoint uses. */
export interface CodehostContext {
  calls: Omit<CallContext, 'errors'>;
  callers: Callers;
  limits: RateLimits;
  operations: Omit<OperationContext, 'baseUrl' | 'nowMs'>;
  privateKey(): string;
}

/** Returns the handler of one operation. */
export const serveWith =
  (context: CodehostContext) =>
  (operation: NamedOperation) =>
  async (incoming: Request, response: Response): Promise<void> => {
    const token = tokenIn(incoming.headers.authorization);
    const request = operationRequest(incoming);
    const calls = { ...context.calls, errors: codehostErrors };
    const done = context.limits.begin(token, incoming.method);
    try {
      await serveCall(calls, loggedFields(operation, request, token), response, async (lag) =>
        respond(context, operation, request, { token, baseUrl: baseUrlOf(incoming), lag }),
      );
    } finally {
      done();
    }
  };

async function respond(
  context: CodehostContext,
  operation: NamedOperation,
  request: OperationRequest,
  { token, baseUrl, lag }: { token: string; baseUrl: string; lag: Lag },
): Promise<HttpResponse> {
  const nowMs = context.calls.now();
  const date = { date: new Date(nowMs).toUTCString() };
  let limits = {};
  try {
    await authenticate(context, operation, token);
    limits = context.limits.headers(token);
    context.limits.take(token, request.method);
    limits = context.limits.headers(token);
    const staleMs = lagOf(operation, lag);
    const store = staleMs === 0 ? context.operations.store : context.operations.store.asOf(nowMs - staleMs);
    const run = operation.run({ ...context.operations, store, baseUrl, nowMs }, request);
    const response = tagged(await run, request);
    if (response.status === 304) context.limits.giveBack(token);
    return { ...response, headers: { ...limits, ...date, ...response.headers } };
  } catch (error) {
    const response = errorResponse(error);
    return { ...response, headers: { ...limits, ...date, ...response.headers } };
  }
}

/** The provider documents no consistency of reads, so each read of secrets may be behind. Other reads are not. */
function lagOf({ name }: NamedOperation, { readMs, listMs }: Lag): number {
  if (/^list\w*Secrets?$/.test(name)) return listMs;
  return /^get\w+Secret$/.test(name) ? readMs : 0;
}

/**
 * A read has an entity tag. With the one that the client has already, it is not answered again, and not counted
 * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate).
 */
function tagged(response: HttpResponse, { method, ifNoneMatch }: OperationRequest): HttpResponse {
  if (method !== 'GET' || response.status !== 200) return response;
  const etag = `W/"${createHash('sha256').update(response.body).digest('hex')}"`;
  if (etag === ifNoneMatch) return { status: 304, headers: { etag }, body: '' };
  return { ...response, headers: { ...response.headers, etag } };
}

/**
 * An installation that is suspended cannot use the tokens that it has
 * (https://docs.github.com/en/apps/maintaining-github-apps/suspending-a-github-app-installation).
 */
async function authenticate(
  { callers, operations, privateKey }: CodehostContext,
  { isForApplication }: NamedOperation,
  token: string,
): Promise<void> {
  if (isForApplication !== true) {
    const { isInstallation } = callers.authenticate(token);
    if (isInstallation && operations.store.isSuspended)
      throw new CodehostError(403, 'This installation has been suspended');
    return;
  }
  await verifyAppJwt(token, { appId: operations.app.id, privateKey: privateKey() });
}

function operationRequest({ method, url, params, query, body, headers }: Request): OperationRequest {
  const content = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  return {
    method,
    path: url,
    params: params as Record<string, string>,
    query,
    body: content,
    ifNoneMatch: headers['if-none-match'],
  };
}

const baseUrlOf = ({ headers, baseUrl }: Request): string => `http://${headers.host ?? ''}${baseUrl}`;

/** Returns the properties of a call that are logged and that faults match: its caller, but never the token. */
function loggedFields(operation: NamedOperation, { params, body }: OperationRequest, token: string) {
  const { name, org, orgId, owner, repo, id, environment, installation } = params;
  const place = org ?? orgId ?? [owner, repo, id, environment].filter((part) => part !== undefined).join('/');
  const caller = operation.isForApplication
    ? 'application'
    : token.startsWith('ghs_')
      ? 'installation'
      : 'token';
  const sent = Object.keys(body).slice(0, 32);
  return {
    operation: operation.name,
    name: (name ?? installation)?.slice(0, 512),
    region: place,
    caller,
    sent,
  };
}
