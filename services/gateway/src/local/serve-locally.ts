import type { ServerResponse } from 'node:http';
import { invalid } from '@secrets/domain';
import type { ServeRequest } from '@secrets/http';
import { directExchange } from '../upstream/direct-exchange.ts';
import { passOn } from '../upstream/exchange.ts';
import type { ForwardedRequest } from '../upstream/upstream.ts';

/**
 * Responds to a request for the gateway itself in the way in which the services do, and returns the status.
 * @throws a problem (`invalid`) if the response is to be wrapped, unless it is public
 */
export async function serveLocally(
  serve: ServeRequest,
  request: ForwardedRequest & { wrapSeconds: number | undefined },
  response: ServerResponse,
): Promise<number> {
  if (request.wrapSeconds !== undefined && request.caller.tokenType !== null)
    throw invalid('the response of this path cannot be wrapped');
  return passOn(await directExchange(serve)(request), request, response);
}
