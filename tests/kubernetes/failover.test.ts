import { expect, test } from '@jest/globals';
import { ofKind, render } from './render.ts';

interface Cluster {
  instances: number;
  postgresql: { parameters: Record<string, string>; synchronous?: object };
}

// docs/operations/running.md#failover-of-postgresql
test('a failover of the production database loses no acknowledged commit', async () => {
  const [cluster] = ofKind<Cluster>(await render('production'), 'Cluster');
  const { instances, postgresql } = cluster!.spec;
  expect(instances).toBeGreaterThanOrEqual(3); // one standby may be away
  expect(postgresql.synchronous).toEqual({ method: 'any', number: 1, dataDurability: 'required' });
  expect(Object.keys(postgresql.parameters)).not.toContain('synchronous_commit'); // its default waits for the disk of the standby
  expect(cluster!.metadata.annotations).toMatchObject({ 'alpha.cnpg.io/failoverQuorum': 'true' });
});
