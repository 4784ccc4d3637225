import { type OwningService, receivesToken } from '@secrets/access';
import { Problem } from '@secrets/domain';
import { ConnectionLost, type FramePool, openFramePool, ResponseTimeout } from '@secrets/http';
import { traceparent } from '@secrets/telemetry';
import { type Exchange, exchangingUpstream } from './exchange.ts';
import { defaultTimeoutMs, openUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';

/** Opens connections to a service: those that many requests share, and those for HTTP. */
export function framedUpstream(name: OwningService, options: UpstreamOptions): Upstream {
  const overHttp = openUpstream(name, options);
  const pool = openFramePool({ to: name, timeoutMs: defaultTimeoutMs, ...options });
  return {
    ...exchangingUpstream(frameExchange(name, pool), overHttp),
    close: async () => {
      pool.close();
      await overHttp.close();
    },
  };
}

/** A GET whose connection was lost is sent again over HTTP. */
const frameExchange =
  (name: string, pool: FramePool): Exchange =>
  async ({ gatewayRequest, caller, contentType, body }) => {
    const { method, path, forwardPath, forwardQuery, token } = gatewayRequest;
    try {
      return await pool.send({
        method,
        path: forwardPath,
        query: forwardQuery,
        caller,
        contentType,
        callerToken: receivesToken(path) ? (token ?? '') : undefined,
        traceparent: traceparent(),
        body,
      });
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (method === 'GET' && !(error instanceof ResponseTimeout)) return undefined;
      throw new Problem('unavailable', `${name} is unavailable`, { cause: error });
    }
  };
