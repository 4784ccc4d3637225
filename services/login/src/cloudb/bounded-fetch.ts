import { Problem } from '@secrets/domain';

const maxBytes = 512 * 1024;
const timeoutMs = 5_000;

/**
 * Gets a document of the directory: 5 s, no redirects, 512 KiB. Throws a problem: `unavailable` when nothing came,
 * `bad_gateway` when something else than a document did.
 * @param absence what it means that the directory has no such document (status 400 or 404), where more is known of it
 */
export async function fetchDocument(url: string, absence?: string): Promise<Response> {
  const response = await fetch(url, {
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: 'application/json' },
  }).catch((cause: unknown) => {
    throw new Problem('unavailable', 'the directory does not answer', { cause, retryAfterSeconds: 2 });
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    if (absence !== undefined && [400, 404].includes(response.status))
      throw new Problem('bad_gateway', absence);
    const kind = response.status === 429 || response.status >= 500 ? 'unavailable' : 'bad_gateway';
    throw new Problem(kind, `the directory answers with status ${response.status}`);
  }
  return new Response(await boundedBody(response), { status: 200 });
}

async function boundedBody(response: Response): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response.body ?? []) {
      size += part.byteLength;
      if (size > maxBytes) break; // leaving the loop ends the connection
      parts.push(part);
    }
  } catch (cause) {
    throw new Problem('unavailable', 'the directory stopped in the middle of its answer', { cause });
  }
  if (size > maxBytes) throw new Problem('bad_gateway', 'the directory answers with too much');
  return Buffer.concat(parts);
}
