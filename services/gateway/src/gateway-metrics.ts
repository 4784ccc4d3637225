import type { Metrics } from '@secrets/telemetry';

export interface GatewayMetrics {
  /** Counts one finished request; status 499 is a client that went away. */
  finished(operation: string, upstream: string, status: number, seconds: number): void;
}

/** The counter and the histogram of requests; their labels are resolved once for each combination. */
export function gatewayMetrics(metrics: Metrics): GatewayMetrics {
  const requests = metrics.counter('gateway_requests_total', 'Requests answered', [
    'operation',
    'upstream',
    'status',
  ]);
  const durations = metrics.histogram('gateway_request_seconds', 'Time until the answer was handed over', [
    'upstream',
  ]);
  const counters = new Map<string, { inc(): void }>();
  const timers = new Map<string, { observe(seconds: number): void }>();
  return {
    finished: (operation, upstream, status, seconds) => {
      const key = `${operation} ${upstream} ${status}`;
      let counter = counters.get(key);
      if (counter === undefined) {
        counter = requests.labels(operation, upstream, String(status));
        counters.set(key, counter);
      }
      counter.inc();
      let timer = timers.get(upstream);
      if (timer === undefined) {
        timer = durations.labels(upstream);
        timers.set(upstream, timer);
      }
      timer.observe(seconds);
    },
  };
}
