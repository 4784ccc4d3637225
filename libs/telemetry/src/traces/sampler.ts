import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { TracingOptions } from './tracing-options.ts';

const samplers: Readonly<Record<string, (ratio: () => number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio()),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) =>
    new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio()) }),
};

/** The sampler of `OTEL_TRACES_SAMPLER`. Throws if it is unknown, or its ratio is invalid. */
export function samplerOf(env: TracingOptions['env']): Sampler {
  const create = samplers[env.OTEL_TRACES_SAMPLER || 'parentbased_always_on'];
  if (create === undefined)
    throw new Error(`OTEL_TRACES_SAMPLER: one of ${Object.keys(samplers).join(', ')} is required`);
  return create(() => ratioOf(env.OTEL_TRACES_SAMPLER_ARG));
}

function ratioOf(text: string | undefined): number {
  const ratio = Number(text || 1);
  if (!(ratio >= 0 && ratio <= 1))
    throw new Error('OTEL_TRACES_SAMPLER_ARG: a number from 0 to 1 is required');
  return ratio;
}
