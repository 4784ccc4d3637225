import { recordSpansWith } from './traces.ts';
import type { TracingOptions } from './tracing-options.ts';

/**
 * Begins to export the spans of this process, if the standard variables of OpenTelemetry name an endpoint. Otherwise nothing of
 * its SDK is even loaded. Returns what ends the export, after the remaining spans were sent.
 * @throws if a variable has a value that is not supported
 */
export async function startTracing(options: TracingOptions): Promise<() => Promise<void>> {
  if (!isWanted(options.env)) return async () => undefined;
  const { openTelemetry } = await import('./open-telemetry.ts');
  const { stop, ...backend } = openTelemetry(options);
  recordSpansWith(backend);
  return async () => {
    recordSpansWith(undefined);
    await stop();
  };
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
const isWanted = (env: TracingOptions['env']): boolean =>
  Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT) &&
  env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  env.OTEL_TRACES_EXPORTER !== 'none';
