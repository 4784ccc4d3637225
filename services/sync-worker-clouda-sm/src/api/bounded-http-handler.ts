import { Readable } from 'node:stream';
import { Fault } from '@secrets/domain';
import type { Egress } from '@secrets/sync-worker';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { faulting, faultOf } from './fault-of.ts';

const maxResponseBytes = 1024 * 1024;

/** The SDK's way to the network: through the egress guard, and bounded in time and in the size of an answer. */
export class BoundedHttpHandler extends NodeHttpHandler {
  constructor({ httpAgent, httpsAgent }: Egress) {
    super({
      httpAgent,
      httpsAgent,
      connectionTimeout: 5_000,
      requestTimeout: 15_000,
      throwOnRequestTimeout: true,
      socketTimeout: 15_000,
    });
  }

  override async handle(
    ...call: Parameters<NodeHttpHandler['handle']>
  ): ReturnType<NodeHttpHandler['handle']> {
    const answer = await faulting('reaching the service', () => super.handle(...call));
    answer.response.body = Readable.from(limited(answer.response.body as Readable), { objectMode: false });
    return answer;
  }
}

/** The body as it comes; left early, it closes the connection. */
async function* limited(body: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxResponseBytes)
        throw new Fault('unavailable', 'the service answered with more than 1 MiB');
      yield chunk;
    }
  } catch (error) {
    throw faultOf(error, 'reading the answer');
  }
}
