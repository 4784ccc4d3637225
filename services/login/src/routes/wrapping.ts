import { type Caller, requireCapability } from '@secrets/caller';
import { invalid, isJsonObject } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { type Sealed, seal } from '@secrets/seal';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { WrappedResponse } from '../queries/wrapped-responses.ts';
import { requireWrappedResponse, rewrapResponse, unwrapResponse } from '../wrapping/unwrap-response.ts';
import { presentWrapInfo, wrappedAccessorIn, wrapResponse } from '../wrapping/wrap-response.ts';

const WrappingBody = z.object({ token: z.string().optional() });

/** `sys/wrapping/…` (docs/conventions/access.md#response-wrapping). */
export const wrappingEndpoints = (context: Context): Endpoint[] => [
  storeResponse(context),
  returnBody,
  lookUp(context),
  lookUpOwn(context),
  unwrap(context),
  rewrap(context),
];

/** The gateway stores the response of a request with a wrap TTL. Clients cannot reach this path. */
const storeResponse = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/internal/wrapped-responses',
    summary: 'Wrap a response',
    from: 'gateway',
    body: z.object({ response: z.string(), ttl_seconds: z.int().min(1), creation_path: z.string() }),
    handle: async ({ body, caller }) => {
      const text = seal(body.response);
      const info = await wrapResponse(context.db, context.keyRing, {
        text,
        namespaceId: caller.namespace.id,
        creationPath: body.creation_path,
        ttlSeconds: body.ttl_seconds,
        wrappedAccessor: wrappedAccessorIn(text),
      });
      return { data: presentWrapInfo(info) };
    },
  });

const returnBody = endpoint({
  method: 'post',
  path: '/sys/wrapping/wrap',
  summary: 'Return the body, which the gateway wraps; a wrap TTL is required',
  body: z
    .custom<Record<string, unknown>>(isJsonObject, { error: 'the request body must be a JSON object' })
    .meta({ type: 'object' }),
  budget: 'secret',
  handle: async ({ body }) => ({ data: body }),
});

const lookUp = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/wrapping/lookup',
    summary: 'Read the properties of a wrapped response, which remains wrapped',
    access: { open: true, takesWrappingToken: true },
    needs: 'no token',
    body: WrappingBody,
    handle: async (request) => ({
      data: presentWrapped(await requireWrappedResponse(context, wrappingTokenOf(request))),
    }),
  });

const lookUpOwn = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/wrapping/lookup',
    summary: "Read the properties of the response of the caller's wrapping token",
    access: { takesWrappingToken: true },
    handle: async ({ callerToken }) => ({
      data: presentWrapped(await requireWrappedResponse(context, wrappingTokenOf({ body: {}, callerToken }))),
    }),
  });

const presentWrapped = ({ ttlSeconds, createdAt, creationPath }: WrappedResponse) => ({
  creation_path: creationPath,
  creation_time: createdAt.toISOString(),
  creation_ttl: ttlSeconds,
});

const unwrap = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/wrapping/unwrap',
    summary: 'Return a wrapped response, once',
    access: { takesWrappingToken: true },
    needs: 'no token', // of a policy: a wrapping token is sufficient
    body: WrappingBody,
    handle: async (request) => {
      requireUpdate(request.caller);
      return { stored: await unwrapResponse(context, wrappingTokenOf(request)) };
    },
  });

const rewrap = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/wrapping/rewrap',
    summary: 'Exchange a wrapping token for a new one',
    access: { takesWrappingToken: true },
    needs: 'no token', // of a policy: a wrapping token is sufficient
    body: WrappingBody,
    handle: async (request) => {
      requireUpdate(request.caller);
      return { wrapInfo: presentWrapInfo(await rewrapResponse(context, wrappingTokenOf(request))) };
    },
  });

/** A caller without a token has sent a wrapping token: the gateway refuses all others. */
function requireUpdate(caller: Caller): void {
  if (caller.tokenType !== null) requireCapability(caller, 'update');
}

/** The wrapping token in the body, otherwise the one that the client sent as its own. */
function wrappingTokenOf(request: {
  body: z.infer<typeof WrappingBody>;
  callerToken: Sealed<string> | undefined;
}): Sealed<string> {
  if (request.body.token) return seal(request.body.token);
  if (request.callerToken === undefined) throw invalid('token is required');
  return request.callerToken;
}
