import type { Credentials } from '../api/client.ts';
import { eventStreamParser, type ServerSentEvent } from './event-stream-parser.ts';
import { parseEvent, type SyncEvent } from './sync-event.ts';

/** `refused`: the token may not follow events, and no further attempt is made. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'refused';

interface Listener {
  onState(state: LiveState): void;
  onEvent(event: SyncEvent): void;
}

const maxDelayMs = 30_000;
const defaultDelayMs = 2_000;

/** The service sends something every 15 s; a connection that is silent for longer is dead. */
const silenceMs = 40_000;

/**
 * Follows the events of the namespace until the signal is aborted. After a break it continues behind the last event
 * that it has seen, at first after the delay that the service asks for, and then less and less often.
 */
export async function followEvents(credentials: Credentials, listener: Listener, signal: AbortSignal) {
  const position = { lastId: '', delayMs: defaultDelayMs };
  for (let failures = 0; !signal.aborted; failures++) {
    const response = await connect(credentials, position.lastId, signal);
    if (response?.status === 403 || response?.status === 404) return listener.onState('refused');
    if (response?.ok && response.body !== null) {
      failures = 0;
      listener.onState('live');
      if (position.lastId === '') listener.onEvent({ kind: 'reset' }); // What was read before may be older than the stream.
      await readFrames(response.body, (frame) => take(frame, position, listener));
    }
    if (signal.aborted) return;
    listener.onState('reconnecting');
    await wait(delayAfter(failures, position.delayMs, response), signal);
  }
}

function take(
  frame: ServerSentEvent,
  position: { lastId: string; delayMs: number },
  listener: Listener,
): void {
  if (frame.retry !== undefined) position.delayMs = frame.retry;
  const event = frame.data === undefined ? undefined : parseEvent(frame.data);
  if (event !== undefined) listener.onEvent(event);
  if (frame.id !== undefined) position.lastId = frame.id;
}

async function connect({ token, namespace }: Credentials, lastId: string, signal: AbortSignal) {
  try {
    return await fetch('/v1/sys/sync/events', {
      headers: {
        accept: 'text/event-stream',
        'X-Service-Token': token,
        ...(namespace && { 'X-Service-Namespace': namespace }),
        ...(lastId && { 'Last-Event-ID': lastId }),
      },
      credentials: 'omit',
      cache: 'no-store',
      signal,
    });
  } catch {
    return undefined;
  }
}

/** Reads until the stream ends, breaks or is silent for too long; which of them does not matter. */
async function readFrames(body: ReadableStream<Uint8Array>, onFrame: (frame: ServerSentEvent) => void) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parse = eventStreamParser();
  const cancel = () => void reader.cancel().catch(() => undefined);
  let silence = setTimeout(cancel, silenceMs);
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      clearTimeout(silence);
      silence = setTimeout(cancel, silenceMs);
      for (const frame of parse(decoder.decode(piece.value, { stream: true }))) onFrame(frame);
    }
  } catch {
    cancel();
  }
  clearTimeout(silence);
}

function delayAfter(failures: number, delayMs: number, response: Response | undefined): number {
  const asked = 1_000 * Number(response?.headers.get('retry-after') ?? 0);
  const growing = Math.min(maxDelayMs, delayMs * 2 ** Math.min(failures, 5));
  return Math.max(Number.isNaN(asked) ? 0 : asked, growing * (0.75 + Math.random() / 2));
}

const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
