import { Readable } from 'node:stream';
import { Fault } from '@secrets/domain';
import { type Egress, withinBudget } from '@secrets/sync-worker';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { withFaults } from './call-faults.ts';

/** The SDK's HTTP handler: connects through the egress guard, with limits on time, response size, levels and values. */
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
    const result = await withFaults('connecting to the service', () => super.handle(...call));
    const { statusCode, body } = result.response;
    // Read here, because the SDK adds words of its own to errors that it meets while it parses.
    const whole = await withFaults('reading the response', () => boundedBody(body));
    const parseable = withinBudget(statusCode, whole);
    result.response.body = Readable.from(parseable === undefined ? [] : [parseable], { objectMode: false });
    return result;
  }
}

const maxResponseBytes = 1024 * 1024;

/**
 * Counts bytes as received: the SDK requests no compression and does not decompress. Ending the iteration early destroys the
 * body's stream, and with it the connection.
 */
async function boundedBody(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxResponseBytes)
      throw new Fault('unavailable', 'the service sent a response of more than 1 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
