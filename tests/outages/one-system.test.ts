import { afterAll, describe } from '@jest/globals';
import { startOtlpReceiver } from '../observability/otlp-receiver.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { secretValue } from './one-system/canary.ts';
import { streamsOfEvents } from './one-system/events.ts';
import { exportedMetrics } from './one-system/metrics.ts';
import { orderlyStops } from './one-system/orderly.ts';
import { endedServers } from './one-system/servers.ts';
import { killedServices } from './one-system/services.ts';
import { traces } from './one-system/traces.ts';

const receiver = await startOtlpReceiver();
afterAll(() => receiver.stop());

// Each part leaves the system running. They share it because its start takes longer than many of the tests. The secret value
// comes first: it is searched for in everything that the system has written. Some tests are long (`longTest`).
const parts = {
  'a secret value': secretValue,
  traces: (suite: Suite) => traces(suite, receiver),
  metrics: exportedMetrics,
  'streams of events': streamsOfEvents,
  'kill -9 of a service under load': killedServices,
  'orderly stops and faults': orderlyStops,
  'the end of a server under load': endedServers,
};

await describeDistributed(
  'one system',
  (suite) => {
    for (const [title, define] of Object.entries(parts)) describe(title, () => define(suite));
  },
  { env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '100' } },
);
