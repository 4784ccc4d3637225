import { Fault } from '@secrets/domain';

const maxResponseBytes = 1024 * 1024;

/** Yields the chunks of a response body. Throws `Fault` `unavailable` once the body exceeds 1 MiB. */
export async function* boundedBody(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxResponseBytes)
      throw new Fault('unavailable', 'the service sent a response of more than 1 MiB');
    yield chunk;
  }
}
