import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AwsRefusal } from '../aws-error.ts';
import type { ShelfRecord } from '../store/region-store.ts';
import { SecretShelves } from '../store/region-stores.ts';
import { operations } from './operations.ts';

const ACCOUNT = '123456789012';
const HOUR_MS = 3_600_000;

const SecretId = fc.constantFrom('a', 'b');
const token = fc.option(fc.constantFrom('t'.repeat(32), 'u'.repeat(32)), { nil: undefined });
const value = fc.constantFrom('one', 'two');

/** One step of somebody's day: an operation with its input, in one of two regions, and the time until the next. */
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

/** Performs the steps on new shelves; answers those, the records that they kept, and each step's outcome. */
function live(steps: readonly Step[]) {
  const records: string[] = [];
  const clock = { nowMs: 1_700_000_000_000 };
  const shelves = new SecretShelves(
    (record) => records.push(JSON.stringify(record)),
    () => clock.nowMs,
  );
  for (const { region, pauseMs, call } of steps) {
    perform(shelves, region, call, clock.nowMs);
    clock.nowMs += pauseMs;
  }
  return { shelves, records, clock };
}

function perform(shelves: SecretShelves, region: string, [name, input]: Step['call'], nowMs: number): void {
  const shelf = shelves.of(ACCOUNT, region);
  const realm = { shelf, shelves, nowMs, staleMs: 0, replicationMs: 0, forcedDeleteMs: 50, versionLimit: 4 };
  try {
    operations.get(name)?.run(realm, input);
  } catch (error) {
    if (!(error instanceof AwsRefusal)) throw error;
  }
}

const stateOf = (shelves: SecretShelves) =>
  [...shelves.snapshot()].map((record) => JSON.stringify(record)).sort();

test('what was kept builds the same state again, whatever was done', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { shelves, records, clock } = live(steps);
      const rebuilt = new SecretShelves(
        () => {},
        () => clock.nowMs,
      );
      for (const record of records) rebuilt.replay(JSON.parse(record) as ShelfRecord);
      expect(stateOf(rebuilt)).toEqual(stateOf(shelves));
    }),
    { numRuns: 300 },
  );
});

test('labels always point to versions that exist, versions stay within their limit, bytes add up', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      for (const shelf of live(steps).shelves.all()) {
        const secrets = [...shelf.all()];
        for (const { versions, stages } of secrets) {
          expect(versions.size).toBeLessThanOrEqual(4);
          for (const id of stages.values()) expect(versions.has(id)).toBe(true);
        }
        const texts = secrets.flatMap(({ versions }) => [...versions.values()].map(({ text = '' }) => text));
        expect(shelf.bytes).toBe(texts.join('').length);
      }
    }),
    { numRuns: 300 },
  );
});
