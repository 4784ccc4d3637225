import { receivesToken } from '@secrets/access';
import { permissionDenied } from '@secrets/domain';
import type { ServeRequest, ServiceResponse } from '@secrets/http';
import { traceparent } from '@secrets/telemetry';
import type { ForwardedRequest } from './upstream.ts';

/** For a service in this process. Requests need no signature, because nothing comes from outside. */
export const directExchange =
  (serve: ServeRequest) =>
  ({ gatewayRequest, caller, contentType, body }: ForwardedRequest): Promise<ServiceResponse> => {
    const { method, path, forwardPath, forwardQuery, token } = gatewayRequest;
    return serve({
      method,
      path: forwardPath,
      query: forwardQuery,
      callerToken: receivesToken(path) ? (token ?? '') : undefined,
      traceparent: traceparent(),
      body: body === undefined || body.length === 0 ? undefined : { contentType, read: async () => body },
      authenticate: (from) => {
        if (from !== 'gateway') throw permissionDenied();
        return caller;
      },
    });
  };
