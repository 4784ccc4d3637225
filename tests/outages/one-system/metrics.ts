import { expect, test } from '@jest/globals';
import { eventually } from '../../harness/eventually.ts';
import { client } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { alerts, dashboardQueries, metricsIn } from '../../observability/sources.ts';
import type { Suite } from '../describe-distributed.ts';

/** Metrics of Prometheus itself and of Kubernetes, and those that only a process with a certificate has. */
const elsewhere = /^(up|kubelet_\w+|(internal_)?tls_certificate_expires_seconds)$/;

export function exportedMetrics(suite: Suite): void {
  test('every metric of the alerts and the dashboard is exported by a service', async () => {
    await cause(suite);
    const wanted = new Set(
      [...alerts().map(({ expression }) => expression), ...dashboardQueries('1m').map(({ query }) => query)]
        .flatMap(metricsIn)
        .filter((name) => !elsewhere.test(name)),
    );
    expect(wanted.size).toBeGreaterThan(15);
    await eventually(
      async () => {
        const text = await exportedBy(suite);
        return [...wanted].filter((name) => !new RegExp(`^${name}[{ ]`, 'm').test(text));
      },
      (missing) => missing.length === 0,
    );
  });
}

/** A secret that is synced in spite of throttling, and an unsuccessful login: some metrics exist only afterwards. */
async function cause({ system, sandbox }: Suite): Promise<void> {
  const api = client(system.url, system.rootToken);
  await sandbox.fault({ effect: 'throttle', times: 3, retryAfterSeconds: 1 });
  const at = await SyncFixture.create({ api, sandbox });
  await at.sync('s', { k: 'v' });
  await api('POST', 'auth/cloudB/login', { role: 'none', jwt: 'none' });
}

async function exportedBy({ system }: Suite): Promise<string> {
  const services = Object.values(system.processes).filter(({ name }) => name !== 'sandbox');
  const texts = services.map(async ({ metricsAddress }) =>
    (await fetch(`http://${metricsAddress}/metrics`)).text(),
  );
  return (await Promise.all(texts)).join('\n');
}
