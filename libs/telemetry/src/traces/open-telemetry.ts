import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  DiagLogLevel,
  diag,
  isSpanContextValid,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from '../logger.ts';
import { samplerOf } from './sampler.ts';
import type { CurrentSpan, Span, TraceBackend } from './traces.ts';
import type { TracingOptions } from './tracing-options.ts';

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;

/** Opens the SDK of OpenTelemetry. The exporter reads the variables `OTEL_EXPORTER_OTLP_…` itself. */
export function openTelemetry({
  service,
  env,
  log,
}: TracingOptions): TraceBackend & { stop(): Promise<void> } {
  requireProtocol(env);
  diag.setLogger(diagnosticsTo(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: samplerOf(env),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...batchOptions(env) })],
  });
  const tracer = provider.getTracer('secrets-service');
  const spans = new AsyncLocalStorage<OtelSpan>();
  return {
    run: (description, work) => {
      const { name, kind, parent, attributes = {} } = description;
      const context = kind === 'client' ? contextIn(spans.getStore()) : contextOf(parent);
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, context);
      return spans.run(span, () => work(presented(span))).finally(() => span.end());
    },
    current: () => currentOf(spans.getStore()),
    stop: () =>
      provider.shutdown().catch((error: unknown) => log.warn({ error }, 'the last spans were not exported')),
  };
}

const protocol = 'http/protobuf';

function requireProtocol(env: TracingOptions['env']): void {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'])
    if (env[name] && env[name] !== protocol) throw new Error(`${name}: only ${protocol} is supported`);
}

const batchOptions = (env: TracingOptions['env']) => ({
  ...numberOption(env, 'OTEL_BSP_SCHEDULE_DELAY', 'scheduledDelayMillis'),
  ...numberOption(env, 'OTEL_BSP_EXPORT_TIMEOUT', 'exportTimeoutMillis'),
  ...numberOption(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 'maxQueueSize'),
  ...numberOption(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 'maxExportBatchSize'),
});

function numberOption(env: TracingOptions['env'], name: string, option: string): Record<string, number> {
  if (!env[name]) return {};
  const value = Number(env[name]);
  if (!Number.isInteger(value) || value < 0) throw new Error(`${name}: a whole number is required`);
  return { [option]: value };
}

const contextIn = (span: OtelSpan | undefined): Context =>
  span === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span);

/** https://www.w3.org/TR/trace-context/#traceparent-header. A later version may have more fields. */
const header = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

function contextOf(parent: string | null | undefined): Context {
  const [, traceId, spanId, flags] = header.exec(parent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags!, 16) & 1, isRemote: true };
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
}

function currentOf(span: OtelSpan | undefined): CurrentSpan | undefined {
  if (span === undefined) return undefined;
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceId,
    spanId,
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
  };
}

const presented = (span: OtelSpan): Span => ({
  rename: (name) => void span.updateName(name),
  set: (attributes) => void span.setAttributes(attributes),
  fail: (kind) => {
    span.setAttribute('error.type', kind);
    span.setStatus({ code: SpanStatusCode.ERROR });
  },
});

const logIntervalMs = 60_000;

/** A collector that cannot be reached is reported once a minute. */
function diagnosticsTo(log: Logger) {
  let lastAt = Number.NEGATIVE_INFINITY;
  const report = (reason: string) => {
    if (performance.now() - lastAt < logIntervalMs) return;
    lastAt = performance.now();
    log.warn({ reason: reason.slice(0, 300) }, 'spans cannot be exported');
  };
  const ignore = () => undefined;
  return { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
}
