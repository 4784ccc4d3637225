import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { putRequest } from '@secrets/sync-worker/testing';
import fc from 'fast-check';
import { useDriver } from './use-driver.ts';

const environments = ['development', 'preview', 'production'];

/** Foreign records of one key: each environment is in at most one of them. */
const foreignRecords = fc
  .record({
    order: fc.shuffledSubarray(environments),
    cuts: fc.tuple(fc.nat(3), fc.nat(3)),
    isSensitive: fc.boolean(),
    custom: fc.option(fc.nat(2), { nil: undefined }),
  })
  .map(({ order, cuts, isSensitive, custom }) => {
    const [first, second] = [Math.min(...cuts), Math.max(...cuts)];
    return [order.slice(0, first), order.slice(first, second), order.slice(second)]
      .map((target, index) => ({
        target,
        type: isSensitive && !target.includes('development') ? 'sensitive' : 'encrypted',
        ...(custom === index ? { customEnvironmentIds: ['env_staging'] } : {}),
      }))
      .filter(({ target }) => target.length > 0);
  });

const wantedEnvironments = fc.subarray(environments, { minLength: 1 });

describe.each(['sandbox', 'sandbox-strict'])(
  'webhost-project 2, 4, 5 and 9, in the project %s:',
  (project) => {
    const driver = useDriver({}, project);

    /** The value of each environment. Fails if there are two. */
    const valuesOf = (name: string) => {
      const values = driver.harness
        .held(name)
        .flatMap(({ tags, value }) =>
          tags.target!.split(',').map((environment) => [environment, value] as const),
        );
      expect(new Set(values.map(([environment]) => environment)).size).toBe(values.length);
      return Object.fromEntries(values);
    };

    /** Repeats a put that is not ready, as the runtime does. */
    const settle = async (attempt: () => Promise<{ remote: Json }>) => {
      try {
        return await attempt();
      } catch (error) {
        expect(error).toMatchObject({ kind: 'not_ready' });
        return attempt();
      }
    };

    test('only environments of the destination change, whatever foreign records there are', async () => {
      await fc.assert(
        fc.asyncProperty(
          foreignRecords,
          wantedEnvironments,
          wantedEnvironments,
          async (foreign, first, second) => {
            const key = driver.harness.freshName();
            for (const record of foreign) {
              const isMixed = record.target.length > 1 && record.target.includes('development');
              if (project === 'sandbox' || !isMixed) await driver.harness.plant({ key, ...record });
            }
            const before = valuesOf(key);
            const expected = (wanted: string[], value: string) => ({
              ...before,
              ...Object.fromEntries(wanted.map((environment) => [environment, value])),
            });
            const request = putRequest(key, 'one', { overwrite: true });
            const one = await driver.forEnvironments(...first);
            const { remote } = await settle(() => driver.put(request, one));
            expect(valuesOf(key)).toEqual(expected(first, 'one'));
            const other = await driver.forEnvironments(...second);
            const next = { ...request, value: putRequest('', 'two').value, remote };
            const moved = await settle(() => driver.put(next, other));
            const left = Object.fromEntries(
              Object.entries(expected(second, 'two')).filter(
                ([environment]) => second.includes(environment) || !first.includes(environment),
              ),
            );
            expect(valuesOf(key)).toEqual(left);
            await driver.remove(key, moved.remote, other);
            for (const environment of second) delete left[environment];
            expect(valuesOf(key)).toEqual(left);
          },
        ),
        { numRuns: 60 },
      );
    });
  },
);
