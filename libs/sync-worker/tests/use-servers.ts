import { randomBytes } from 'node:crypto';
import { openTestBroker } from '@secrets/broker/testing';
import { createEgressGuard } from '@secrets/egress';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { useStarted } from '../../testing/src/use-started.ts';

/** A database and a broker for the tests of a file, and the dependencies of a worker that uses them. */
export function useServers() {
  const servers = {
    db: useStarted(openTestDb, ({ close }) => close()),
    broker: useStarted(openTestBroker, (broker) => broker.close()),
    keyRing: parseKeyRing(`test:${randomBytes(32).toString('base64')}`, 'test'),
  };
  const depsOfWorker = () => ({
    ...servers,
    egress: createEgressGuard({ allow: [], mayOpen: [] }),
    log: silentLogger(),
    metrics: createMetrics('test', { processMetrics: false }),
  });
  return { ...servers, depsOfWorker };
}
