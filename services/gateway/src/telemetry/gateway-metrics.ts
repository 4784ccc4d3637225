import type { Metrics } from '@secrets/telemetry';

export interface GatewayMetrics {
  /** Counts one finished request. Status 499 means that the client disconnected. */
  finished(operation: string, upstream: string, status: number, seconds: number): void;
  /** Counts one request with a token that has the policy `root`. */
  usedRootToken(): void;
}

/** The counter and the histogram of requests. Each combination of labels is resolved once, for speed. */
export function gatewayMetrics(metrics: Metrics): GatewayMetrics {
  const requests = metrics.counter('gateway_requests_total', 'Requests handled', [
    'operation',
    'upstream',
    'status',
  ]);
  const durations = metrics.histogram('gateway_request_seconds', 'Time until the response was sent', [
    'upstream',
  ]);
  const ofRootTokens = metrics.counter('gateway_root_token_requests_total', 'Requests with a root token');
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
    usedRootToken: () => ofRootTokens.inc(),
  };
}
