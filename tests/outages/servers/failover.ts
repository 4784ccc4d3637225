import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventuallyEqual } from '../../harness/eventually.ts';
import type { Api } from '../../harness/http.ts';
import type { Suite } from '../describe-distributed.ts';
import { Load } from '../load/load.ts';
import { all, readiness, watchReadiness } from '../load/readiness.ts';

/** The last test of a system: it leaves one server. */
export function failover(suite: Suite, balanced: { readonly api: Api }): void {
  test('Postgres fails over to its standby: no acknowledged write is lost, and nothing is ready meanwhile', async () => {
    const pair = suite.system.postgres.pair!;
    const services = Object.values(suite.system.processes).filter(({ name }) => name !== 'sandbox');
    const areAll = (status: number) => eventuallyEqual(() => readiness(services), all(services, status));
    const load = await Load.create(suite.system, { api: balanced.api });
    let outageMs = 0;
    await load.run(async () => {
      await load.written(40);
      // What is committed from now on is lost. Therefore, it must not be acknowledged.
      pair.holdReplication();
      await sleep(1_000);
      await pair.primary.stop('SIGKILL');
      const endedAt = Date.now();
      await areAll(503);
      // The address leads to a server that answers, but accepts no writes.
      pair.switchAddress();
      const watch = watchReadiness(services);
      await sleep(2_000);
      const seen = await watch.end();
      expect(seen).toEqual(Object.fromEntries(services.map(({ name }) => [name, [503]])));
      await pair.promote();
      const promotedAt = Date.now();
      await load.written(1);
      outageMs = Date.now() - endedAt;
      suite.note(`failover: a write was acknowledged ${Date.now() - promotedAt} ms after the promotion`);
      await areAll(200);
      suite.note(`failover: every process was ready ${Date.now() - promotedAt} ms after the promotion`);
      await load.written(40);
    });
    const syncedMs = await load.untilSynced();
    suite.note(`failover: no write for ${outageMs} ms, synced ${syncedMs} ms after the last write`);
    expect(await load.lost()).toEqual([]);
    expect(load.malformed).toEqual([]);
    expect(Object.keys(load.refusals)).toEqual(['503']);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.5);
  });
}
