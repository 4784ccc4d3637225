import { describe, expect, test } from '@jest/globals';
import type { RememberedSecret } from '@secrets/sync-worker';
import { putRequest } from '@secrets/sync-worker/testing';
import { destinationId } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { put, records } = driver;
const signal = () => AbortSignal.timeout(60_000);
const other = '5b0a6c3e-0000-4000-8000-000000000002';

/** Connects as a worker that finds in the database what puts of its destinations have returned. */
async function connect() {
  const known: RememberedSecret[] = [];
  const asked: unknown[] = [];
  const connectAs = async (id: string) => {
    const connected = await driver.connectWith(
      { id },
      {
        remembered: async (secrets) => {
          asked.push(...secrets);
          return known.filter((one) =>
            secrets.some((s) => s.destinationId === one.destinationId && s.externalName === one.externalName),
          );
        },
      },
    );
    return async (bytes: number, environment = connected) => {
      const request = putRequest(driver.harness.freshName(), 'x'.repeat(bytes));
      const { remote } = await environment.put(request, signal());
      known.push({ destinationId: id, externalName: request.externalName, remote });
      return { ...request, remote };
    };
  };
  return { asked, own: await connectAs(destinationId), others: await connectAs(other) };
}

describe('the variables of a deployment together', () => {
  test.each(['own', 'others'] as const)(
    'include the encrypted values that the service has written: %s',
    async (writer) => {
      const destinations = await connect();
      const first = await destinations[writer](40_000);
      await expect(destinations.own(30_000)).rejects.toMatchObject({
        kind: 'full',
        message: expect.stringMatching(/at least 70\d{3} bytes; a deployment accepts at most 65536$/),
      });
      expect(destinations.asked).toContainEqual({
        destinationId: writer === 'own' ? destinationId : other,
        externalName: first.externalName,
      });
      await driver.harness.stranger('DELETE', `/${driver.harness.held(first.externalName)[0]!.tags.id}`);
      const second = await destinations.own(30_000);
      expect(records(second.externalName)).toHaveLength(1);
      await driver.harness.stranger('DELETE', `/${driver.harness.held(second.externalName)[0]!.tags.id}`);
    },
  );

  test('do not include what is remembered of a record that is gone', async () => {
    const destinations = await connect();
    const first = await destinations.own(40_000);
    const { externalName: key } = first;
    await driver.harness.stranger('DELETE', `/${driver.harness.held(key)[0]!.tags.id}`);
    await driver.harness.plant({ key, value: 'theirs' });
    const second = await destinations.own(30_000);
    for (const name of [key, second.externalName])
      await driver.harness.stranger('DELETE', `/${driver.harness.held(name)[0]!.tags.id}`);
  });

  test('are limited by the provider too, which knows every value', async () => {
    await driver.harness.plant({ key: 'HIDDEN', value: 'x'.repeat(40_000) });
    await expect(put(putRequest(driver.harness.freshName(), 'x'.repeat(30_000)))).rejects.toMatchObject({
      kind: 'full',
      message: expect.stringMatching(/the project has no room for another variable/),
    });
    await put(
      putRequest(driver.harness.freshName(), 'x'.repeat(30_000)),
      await driver.forEnvironments('development'),
    );
  });
});
