import { Readable } from 'node:stream';
import { cloudASm } from '@secrets/destinations';
import { bodyBytes, type Egress, readBody } from '@secrets/sync-worker';
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
    const { statusCode: status, body: chunks } = result.response;
    const maxBytes = maxBytesOf(call[0].headers['x-amz-target']);
    // Read here, because the SDK adds words of its own to errors that it meets while it parses.
    const body = await withFaults('reading the response', () => readBody({ status, chunks, maxBytes }));
    result.response.body = Readable.from(body === undefined ? [] : [body], { objectMode: false });
    return result;
  }
}

/**
 * A secret can have 50 tags of 384 characters, a description of 2,048, 100 versions, and a replica in each region, with a key
 * of 2,048 characters and a message
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_DescribeSecret.html): about 210 KiB in the worst case.
 */
const maxSecretBytes = 256 * 1024;

/** Bytes as received: the SDK requests no compression and does not decompress. Without a target, it is a call for credentials. */
function maxBytesOf(target: string | undefined): number {
  if (target === undefined) return bodyBytes.description;
  if (target.endsWith('.ListSecrets')) return bodyBytes.list;
  if (target.endsWith('.GetSecretValue')) return bodyBytes.withValues(cloudASm.maxValueBytes);
  return maxSecretBytes;
}
