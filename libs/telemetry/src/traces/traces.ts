/** Attributes of a span. Never a value, a token, a path or a name: collectors are less protected than the audit log. */
type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanDescription {
  name: string;
  /** `server` and `consumer` continue the trace of `parent`, the others that of the span in which they begin. */
  kind: 'server' | 'client' | 'consumer';
  /** As in the header `traceparent` of W3C Trace Context. An invalid one is ignored, as without one. */
  parent?: string | null | undefined;
  attributes?: Attributes;
}

/** A span in progress. */
export interface Span {
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Marks it as failed, with the kind of failure: a code, never a message. */
  fail(kind: string): void;
}

/** The span in progress, for headers, rows and log lines. */
export interface CurrentSpan {
  traceId: string;
  spanId: string;
  /** As in the header of W3C Trace Context. */
  traceparent: string;
}

/** Recorder of spans. */
export interface TraceBackend {
  run<T>(description: SpanDescription, work: (span: Span) => Promise<T>): Promise<T>;
  current(): CurrentSpan | undefined;
}

let backend: TraceBackend | undefined;

/** Sets what records the spans of this process; undefined for nothing. */
export function recordSpansWith(next: TraceBackend | undefined): void {
  backend = next;
}

/**
 * Runs `work` in a span. Without tracing, or if `describe` returns undefined, it runs without one. `describe` is only called
 * while spans are recorded, so that tracing costs nothing where it is off.
 */
export function traced<T>(
  describe: () => SpanDescription | undefined,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (backend === undefined) return work(undefined);
  const description = describe();
  return description === undefined ? work(undefined) : backend.run(description, work);
}

/** Returns the span in progress; undefined without one. */
export const currentSpan = (): CurrentSpan | undefined => backend?.current();

/** Returns what to pass on to whoever continues the trace; undefined without a span. */
export const traceparent = (): string | undefined => backend?.current()?.traceparent;
