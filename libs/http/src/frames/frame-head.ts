import type { Caller } from '@secrets/caller';

/** The value of the header `Upgrade` with which a connection begins to carry frames. */
export const framesProtocol = 'secrets-frames-1';

/** The head of a request. Its signature also covers the body. */
export interface RequestHead {
  /** When the signature expires, in seconds since 1970. */
  exp: number;
  method: string;
  path: string;
  query: string;
  caller: Caller;
  contentType?: string | undefined;
  callerToken?: string | undefined;
  traceparent?: string | undefined;
}

/** The head of a response, whose body is JSON. */
export interface ResponseHead {
  status: number;
  headers: Record<string, string>;
  /** Whether there is content. */
  hasBody: boolean;
}

/** The response is too large for a frame, or a stream: the request must be sent over HTTP. Only in response to a GET. */
export const overHttp = 0;

/** Says that the other side is about to stop, in a frame with the ID 0: no further request may be sent. */
export const goAwayHead = JSON.stringify({ goAway: true });

/** Prefix of the text that is signed for a frame, so that a signature is valid for frames only. */
export const framesContext = `${framesProtocol}\n`;
