import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AwsError } from '../aws-error.ts';
import type { RegionRecord } from '../store/region-store.ts';
import { RegionStores } from '../store/region-stores.ts';
import { operations } from './operations.ts';

const ACCOUNT = '123456789012';
const HOUR_MS = 3_600_000;

const SecretId = fc.constantFrom('a', 'b');
const token = fc.option(fc.constantFrom('t'.repeat(32), 'u'.repeat(32)), { nil: undefined });
const value = fc.constantFrom('one', 'two');

/** A random step: an operation with its input, in one of two regions, and the time until the next step. */
const step = fc.record({
  region: fc.constantFrom('eu-west-1', 'us-east-1'),
  pauseMs: fc.constantFrom(0, 100, 30 * HOUR_MS),
  call: fc.oneof(
    fc.tuple(
      fc.constant('CreateSecret'),
      fc.record({ Name: SecretId, SecretString: value, ClientRequestToken: token }),
    ),
    fc.tuple(
      fc.constant('PutSecretValue'),
      fc.record({ SecretId, SecretString: value, ClientRequestToken: token }),
    ),
    fc.tuple(fc.constant('UpdateSecret'), fc.record({ SecretId, Description: value })),
    fc.tuple(
      fc.constant('TagResource'),
      fc.record({ SecretId, Tags: fc.constant([{ Key: 'k', Value: 'v' }]) }),
    ),
    fc.tuple(fc.constant('UntagResource'), fc.record({ SecretId, TagKeys: fc.constant(['k']) })),
    fc.tuple(fc.constant('DeleteSecret'), fc.record({ SecretId, ForceDeleteWithoutRecovery: fc.boolean() })),
    fc.tuple(fc.constant('RestoreSecret'), fc.record({ SecretId })),
    fc.tuple(
      fc.constant('ReplicateSecretToRegions'),
      fc.record({ SecretId, AddReplicaRegions: fc.constant([{ Region: 'us-east-1' }]) }),
    ),
    fc.tuple(
      fc.constant('RemoveRegionsFromReplication'),
      fc.record({ SecretId, RemoveReplicaRegions: fc.constant(['us-east-1']) }),
    ),
  ),
});

type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** Performs the steps on empty regions. Returns the regions, the records that they persisted, and the clock. */
function performAll(steps: readonly Step[]) {
  const records: string[] = [];
  const clock = { nowMs: 1_700_000_000_000 };
  const regions = new RegionStores(
    (record) => records.push(JSON.stringify(record)),
    () => clock.nowMs,
  );
  for (const { region, pauseMs, call } of steps) {
    perform(regions, region, call, clock.nowMs);
    clock.nowMs += pauseMs;
  }
  return { regions, records, clock };
}

function perform(regions: RegionStores, region: string, [name, input]: Step['call'], nowMs: number): void {
  const store = regions.of(ACCOUNT, region);
  const limits = { replicationMs: 0, forcedDeleteMs: 50, versionLimit: 4 };
  try {
    operations.get(name)?.run({ store, regions, nowMs, ...limits }, input);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
  }
}

const stateOf = (regions: RegionStores) =>
  [...regions.snapshot()].map((record) => JSON.stringify(record)).sort();

test('replaying the persisted records rebuilds the same state after any sequence of operations', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { regions, records, clock } = performAll(steps);
      const rebuilt = new RegionStores(
        () => {},
        () => clock.nowMs,
      );
      for (const record of records) rebuilt.replay(JSON.parse(record) as RegionRecord);
      expect(stateOf(rebuilt)).toEqual(stateOf(regions));
    }),
    { numRuns: 300 },
  );
});

test('labels point to existing versions, the version limit holds, and the size is exact after any sequence', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      for (const store of performAll(steps).regions.all()) {
        const secrets = [...store.all()];
        for (const { versions, stages } of secrets) {
          expect(versions.size).toBeLessThanOrEqual(4);
          for (const id of stages.values()) expect(versions.has(id)).toBe(true);
        }
        const texts = secrets.flatMap(({ versions }) => [...versions.values()].map(({ text = '' }) => text));
        expect(store.bytes).toBe(texts.join('').length);
      }
    }),
    { numRuns: 300 },
  );
});
