import type { Request, Response } from 'express';
import type { HttpResponse } from '../../../simulation/http-response.ts';
import { type CallContext, serveCall } from '../../../simulation/serve-call.ts';
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
      await serveCall(calls, loggedFields(operation, request, token), response, async () =>
        respond(context, operation, request, { token, baseUrl: baseUrlOf(incoming) }),
      );
    } finally {
      done();
    }
  };

async function respond(
  context: CodehostContext,
  operation: NamedOperation,
  request: OperationRequest,
  { token, baseUrl }: { token: string; baseUrl: string },
): Promise<HttpResponse> {
  const nowMs = context.calls.now();
  const date = { date: new Date(nowMs).toUTCString() };
  let limits = {};
  try {
    await authenticate(context, operation, token);
    limits = context.limits.headers(token);
    context.limits.take(token, request.method);
    limits = context.limits.headers(token);
    const response = await operation.run({ ...context.operations, baseUrl, nowMs }, request);
    return { ...response, headers: { ...limits, ...date, ...response.headers } };
  } catch (error) {
    const response = errorResponse(error);
    return { ...response, headers: { ...limits, ...date, ...response.headers } };
  }
}

async function authenticate(
  { callers, operations, privateKey }: CodehostContext,
  { isForApplication }: NamedOperation,
  token: string,
): Promise<void> {
  if (isForApplication !== true) return void callers.authenticate(token);
  await verifyAppJwt(token, { appId: operations.app.id, privateKey: privateKey() });
}

function operationRequest({ method, url, params, query, body }: Request): OperationRequest {
  const content = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  return { method, path: url, params: params as Record<string, string>, query, body: content };
}

const baseUrlOf = ({ headers, baseUrl }: Request): string => `http://${headers.host ?? ''}${baseUrl}`;

/** What the call log and the faults see of a call: who made it, but never the token. */
function loggedFields(operation: NamedOperation, { params, body }: OperationRequest, token: string) {
  const { name, org, owner, repo, environment, installation } = params;
  const place = org ?? [owner, repo, environment].filter((part) => part !== undefined).join('/');
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
