import type { ServerResponse } from 'node:http';
import { invalid } from '@secrets/domain';
import type { GatewayRequest } from '../../request/gateway-request.ts';
import { ClientDisconnected } from '../../request/read-body.ts';
import { collectResponse } from '../../upstream/collected-response.ts';
import { outcomeOf, relayedHeaders } from '../../upstream/relayed-response.ts';
import type { ForwardedRequest, Upstream } from '../../upstream/upstream.ts';
import type { LongResponses } from '../long-responses.ts';
import { EventSocket, requireHandshake } from './event-socket.ts';
import { UpgradeResponse } from './upgrade-response.ts';

/** Whether a client wants to listen to changes of secrets (docs/conventions/secrets.md#events). */
export const isSubscription = ({ path, operation }: Pick<GatewayRequest, 'path' | 'operation'>): boolean =>
  path.startsWith('sys/events/subscribe/') && operation === 'read';

interface SubscribeOptions {
  request: ForwardedRequest;
  wrapSeconds: number | undefined;
  upstream: Upstream;
  long: LongResponses;
}

/**
 * Sends the events of a service as messages of a WebSocket until one of the three ends it. Returns the status once it has begun.
 * @throws a problem, as `Upstream.forward`, and `invalid` if the request is no handshake
 */
export async function subscribe(
  { request, wrapSeconds, upstream, long }: SubscribeOptions,
  response: ServerResponse,
): Promise<number> {
  if (!(response instanceof UpgradeResponse))
    throw invalid('events are sent over a WebSocket: the request must have the header Upgrade: websocket');
  requireHandshake(response.req);
  const { gatewayRequest, caller } = request;
  const socket = new EventSocket();
  const leaving = new AbortController();
  response.once('close', () => socket.emit('close'));
  response.once('stopping', () => socket.emit('stopping'));
  socket.once('close', () => leaving.abort(new ClientDisconnected()));
  const refusal = long.begin({ gatewayRequest, caller, wrapSeconds }, socket);
  const signal = AbortSignal.any([leaving.signal, refusal]);
  const events = await upstream.open(request, signal).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
  const { statusCode: status, headers } = events;
  if (status !== 200) {
    const { text } = await collectResponse(events);
    await request.record(outcomeOf(status, headers));
    response.writeHead(status, relayedHeaders(gatewayRequest.requestId, headers)).end(text);
    return status;
  }
  await request.record({ status: 101, reason: null, issued: undefined });
  if (response.destroyed || !socket.accept(response.req, response.take())) throw new ClientDisconnected();
  void relay(events.body, socket);
  return 101;
}

/** At the pace of the client: what it does not read stays in the service, which cuts it off if that is too much. */
async function relay(body: AsyncIterable<Buffer>, socket: EventSocket): Promise<void> {
  let rest = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames)
        if (frame.startsWith('data: ')) await socket.send(frame.slice('data: '.length));
    }
  } catch {
    // The client, the service or the gateway has ended it.
  }
  socket.end();
}
