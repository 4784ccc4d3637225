import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  counter<Label extends string>(name: string, help: string, labelNames?: Label[]): Counter<Label>;
  gauge<Label extends string>(name: string, help: string, labelNames?: Label[]): Gauge<Label>;
  histogram<Label extends string>(
    name: string,
    help: string,
    labelNames?: Label[],
    buckets?: number[],
  ): Histogram<Label>;
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the metrics registry of one service. Two requests for a name return the same metric. */
export function createMetrics(service: string, { processMetrics = true } = {}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (processMetrics) collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    counter: (name, help, labelNames = []) =>
      (registry.getSingleMetric(name) as Counter<never>) ??
      new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames = []) =>
      (registry.getSingleMetric(name) as Gauge<never>) ?? new Gauge({ name, help, labelNames, registers }),
    histogram: (name, help, labelNames = [], buckets = secondsBuckets) =>
      (registry.getSingleMetric(name) as Histogram<never>) ??
      new Histogram({ name, help, labelNames, buckets, registers }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
