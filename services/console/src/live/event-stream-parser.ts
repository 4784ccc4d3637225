/** A frame of `text/event-stream` (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface ServerSentEvent {
  id?: string;
  data?: string;
  /** Milliseconds to wait before the next connection. */
  retry?: number;
}

/** No frame of the service is nearly as long. */
const maxPendingCharacters = 256 * 1024;

/**
 * Returns a function that takes the text of a stream in pieces and returns the frames that each of them completes.
 * It throws if a frame does not end.
 */
export function eventStreamParser(): (text: string) => ServerSentEvent[] {
  let pending = '';
  return (text) => {
    const parts = (pending + text).split(/\r?\n\r?\n/);
    pending = parts.pop() ?? '';
    if (pending.length > maxPendingCharacters) throw new Error('a frame of the event stream is too long');
    return parts.map(eventOf).filter((frame) => Object.keys(frame).length > 0);
  };
}

function eventOf(block: string): ServerSentEvent {
  const frame: ServerSentEvent = {};
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ''] = /^([a-z]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'id') frame.id = value;
    if (field === 'data') frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`;
    if (field === 'retry' && /^\d+$/.test(value)) frame.retry = Number(value);
  }
  return frame;
}
