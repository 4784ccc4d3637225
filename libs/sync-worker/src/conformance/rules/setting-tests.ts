import { expect, test } from '@jest/globals';
import { type DestinationDescription, type Fields, fieldsThat } from '@secrets/destinations';
import type { Json } from '@secrets/domain';
import type { ConnectedDestination, PutRequest } from '../../driver/driver.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue } from '../put-request.ts';
import type { Push, SettingsUnderTest } from '../settings-under-test.ts';

/** Read by sync-control, which plans the names and the looks, and by the runtime of the workers. */
const readElsewhere = [
  'secret_name_template',
  'granularity',
  'value_key',
  'conflict_policy',
  'drift_policy',
  'inspection_period',
];

/** Tests that each setting of which a change is pushed reaches the simulated store. */
export function pushTests<Declared extends Fields>(
  suite: DriverSuite,
  { description, pushes }: SettingsUnderTest<Declared>,
): void {
  const rows = Object.entries<Push>(pushes);

  test('there is a value for each setting that is pushed', () => {
    expect(Object.keys(pushes).sort()).toEqual(fieldsThat(description, ({ pushed }) => pushed).sort());
  });

  test.each(rows)('a new secret gets %s, and an existing one follows each change of it', (name, push) =>
    connectedBoth(suite, name, push, async (before, after) => {
      const stateOf = (request: PutRequest) => suite.harness.stateOf(request.externalName);
      const existing = await suite.putNew(canary, before);
      const fresh = await suite.putNew(canary, after);
      const put = async (on: ConnectedDestination, remote: Json, verify = false) =>
        (await suite.put({ ...existing.request, remote, valueChanged: false, verify }, on)).remote;
      const without = stateOf(existing.request);
      const pushed = stateOf(fresh.request);
      expect(pushed).not.toEqual(without);
      const remote = await put(after, existing.remote);
      expectNoticeOr(remote, () => expect(stateOf(existing.request)).toEqual(pushed));
      const calls = suite.harness.callCount();
      expect(await put(after, remote)).toEqual(remote);
      expect(suite.harness.callCount()).toBe(calls); // it remembers what it has pushed
      const cleared = await put(before, remote);
      expect([noticeOf(cleared), stateOf(existing.request)]).toEqual([null, without]);
      if (push.keepsAdditions) return;
      const verified = await put(after, remote, true); // what it remembers was changed outside
      expectNoticeOr(verified, () => expect(stateOf(existing.request)).toEqual(pushed));
    }),
  );

  test.each(rows)('a change of %s does not hide a value that somebody else has written', (name, push) =>
    connectedBoth(suite, name, push, async (before, after) => {
      const { request, remote } = await suite.putNew(canary, before);
      const { externalName } = request;
      if ((await suite.valueOf(externalName)) !== canary) return; // the harness looks elsewhere (organization of codehost)
      await suite.harness.changeOutside?.('value', externalName);
      expect(await suite.valueOf(externalName)).not.toBe(canary);
      const put = await suite.put({ ...request, remote, valueChanged: false }, after);
      const value = await suite.valueOf(externalName);
      expectNoticeOr(put.remote, () => expect(value).toBe(canary));
    }),
  );

  test.each(rows)('an existing secret gets %s together with a new value', (name, push) =>
    connectedBoth(suite, name, push, async (before, after) => {
      const { request, remote } = await suite.putNew(canary, before);
      const fresh = await suite.putNew(canary, after);
      const put = await suite.put({ ...request, ...newValue(request, `${canary} two`), remote }, after);
      const pushed = suite.harness.stateOf(fresh.request.externalName);
      expectNoticeOr(put.remote, () =>
        expect(suite.harness.stateOf(request.externalName)).toEqual(expect.arrayContaining(pushed)),
      );
    }),
  );
}

/** Connects a destination without the setting, and the same one with it. */
const connectedBoth = (
  suite: DriverSuite,
  name: string,
  { value, with: settings = {} }: Push,
  use: (before: ConnectedDestination, after: ConnectedDestination) => Promise<void>,
): Promise<void> =>
  suite.connectedAs({ settings }, (before) =>
    suite.connectedAs({ settings: { ...settings, [name]: value } }, (after) => use(before, after)),
  );

/** Null unless the put says that the existing external secret cannot follow a setting. */
const noticeOf = (remote: Json): Json =>
  typeof remote === 'object' && remote !== null && 'notice' in remote ? (remote.notice ?? null) : null;

function expectNoticeOr(remote: Json, expectPushed: () => void): void {
  if (noticeOf(remote) === null) expectPushed();
}

/** A setting that the driver does not read would be accepted, stored and shown, and change nothing. */
export function readTests(
  suite: DriverSuite,
  description: DestinationDescription,
  variants: readonly Record<string, unknown>[],
): void {
  test('every setting is read', async () => {
    suite.harness.settingsRead();
    for (const settings of [{}, ...variants]) await useOnce(suite, settings).catch(() => undefined); // the store may refuse it
    const read = suite.harness.settingsRead();
    const names = Object.keys(description.defaults).filter((name) => !readElsewhere.includes(name));
    expect(names.filter((name) => !read.includes(name))).toEqual([]);
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
