import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

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
  /** All metrics with their values, to be joined with those of other services. */
  values(): Promise<object[]>;
  readonly contentType: string;
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Gauges of the library that are named like counters. `nodejs_active_resources`, by type, has what they count. */
const misnamed = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
];

/** Creates the metrics registry of one service. Two requests for a name return the same metric. */
export function createMetrics(service: string, { processMetrics = true } = {}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (processMetrics) collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
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
    values: () => registry.getMetricsAsJSON(),
    contentType: registry.contentType,
  };
}

/**
 * The metrics of all services of a process as one text, with the label `service` of each. New metrics become those of the
 * first one.
 */
export function joinMetrics(first: Metrics, others: readonly Metrics[]): Metrics {
  const all = [first, ...others.filter((other) => other !== first)];
  const values = async () => (await Promise.all(all.map((one) => one.values()))).flat();
  // The label keeps the values of services apart, so that each sum is of one value.
  const summed = (metric: object) => ({ ...metric, aggregator: 'sum' });
  return {
    ...first,
    values,
    text: async () => AggregatorRegistry.aggregate([(await values()).map(summed)]).metrics(),
  };
}
