import { expect, test } from '@jest/globals';
import { type DestinationDescription, fieldsThat } from '@secrets/destinations';
import { canary, type DriverSuite } from '../driver-suite.ts';

/** Read by sync-control, which plans the names, and by the runtime of the workers. */
const readElsewhere = ['secret_name_template', 'granularity', 'conflict_policy'];

/** A setting that the driver does not read would be accepted, stored and shown, and change nothing. */
export function settingTests(suite: DriverSuite, description: DestinationDescription): void {
  const { subject } = suite;
  const pushed = fieldsThat(description, (field) => field.pushed);
  const unread = (names: readonly string[]) => {
    const read = suite.harness.settingsRead();
    return names.filter((name) => !read.includes(name));
  };

  test('a new secret gets every setting that is pushed', () =>
    suite.connectedAs({ settings: subject.pushes ?? {} }, async (other) => {
      unread([]);
      await suite.putNew(canary, other);
      expect(unread(pushed)).toEqual([]);
    }));

  test('an existing secret is compared with every setting that is pushed, also if its value is unchanged', () =>
    suite.connectedAs({ settings: subject.pushes ?? {} }, async (other) => {
      const { request, remote } = await suite.putNew(canary, other);
      for (const verify of [false, true]) {
        unread([]);
        await suite.put({ ...request, remote, valueChanged: false, verify }, other);
        expect([verify, unread(pushed)]).toEqual([verify, []]);
      }
    }));

  test('every setting is read', async () => {
    unread([]);
    for (const settings of [{}, subject.pushes ?? {}, ...(subject.variants ?? [])])
      await useOnce(suite, settings).catch(() => undefined); // the store may refuse it
    expect(unread(Object.keys(description.defaults).filter((name) => !readElsewhere.includes(name)))).toEqual(
      [],
    );
  });

  test('a stored setting of a wrong type is a fault that names it', async () => {
    for (const name of Object.keys(description.defaults)) {
      const fault = await suite.faultOf(() => suite.harness.connect({ settings: { [name]: null } }));
      expect([fault.kind, fault.message]).toEqual([
        'rejected',
        expect.stringMatching(`^destination main: the stored ${name} is not valid, so write it again: .`),
      ]);
    }
  });
}

const useOnce = (suite: DriverSuite, settings: Record<string, unknown>): Promise<void> =>
  suite.connectedAs({ settings }, async (other) => {
    const { request, remote } = await suite.putNew(canary, other);
    await other.remove({ ...request, remote }, AbortSignal.timeout(60_000));
  });
