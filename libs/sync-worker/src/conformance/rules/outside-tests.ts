import { describe, expect, test } from '@jest/globals';
import type { PutRequest } from '../../driver/driver.ts';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue } from '../put-request.ts';
import { untilReady } from '../until-ready.ts';

const one = `${canary} one`;
const two = `${canary} two`;

/** The puts after a change, and the value that each must leave. */
const puts = {
  'a comparison': { value: one, over: () => ({ valueChanged: false, verify: true }) },
  'the next value': { value: two, over: (request: PutRequest) => newValue(request, two) },
};

const changedTags = { settings: { custom_tags: { team: 'b' } }, tags: { team: 'b' } };

/**
 * Tests puts after somebody else has changed an external secret of the destination. Each restores it, except where the
 * driver declares a reason to leave it as it is: then the put fails, and changes nothing.
 */
export function outsideTests(suite: DriverSuite): void {
  const { changesOutside = {}, leavesOutside = {} } = suite.subject;
  const changed = async (change: string) => {
    const { request, remote } = await suite.putNew();
    const before = await suite.harness.external(request.externalName);
    await suite.harness.changeOutside?.(change, request.externalName);
    return { request: { ...request, remote }, before };
  };
  const restored = Object.keys(changesOutside).filter((change) => !(change in leavesOutside));

  describe.each(Object.entries(puts))('%s', (_title, { value, over }) => {
    test.each(restored)('restores what somebody else has changed (%s)', async (change) => {
      const { request, before } = await changed(change);
      await untilReady(() => suite.put({ ...request, ...over(request) }));
      const after = await suite.harness.external(request.externalName);
      expect(after).toMatchObject({ value, tags: before!.tags });
    });

    for (const [change, { kind, because }] of Object.entries(leavesOutside))
      test(`fails and changes nothing (${change}): ${because}`, async () => {
        const { request } = await changed(change);
        const theirs = await suite.harness.external(request.externalName);
        const put = () => untilReady(() => suite.put({ ...request, ...over(request) }));
        expect(await suite.faultOf(put)).toMatchObject({ kind });
        expect(await suite.harness.external(request.externalName)).toEqual(theirs);
      });
  });

  test.each(Object.entries(changesOutside))(
    'a removal leaves what is not the destination’s (%s)',
    async (change, shown) => {
      const { request } = await changed(change);
      const theirs = await suite.harness.external(request.externalName);
      await untilReady(() => suite.remove(request, request.remote));
      const isForeign = 'belongs' in shown && shown.belongs !== 'own';
      expect(await suite.harness.external(request.externalName)).toEqual(isForeign ? theirs : undefined);
    },
  );

  const pushed = suite.subject.pushedSetting ?? (suite.subject.supportsTags ? changedTags : undefined);
  if (pushed !== undefined)
    test.each(Object.keys(changesOutside))(
      'a change of a setting that is pushed ends as a put of the value does (%s)',
      (change) =>
        suite.connectedAs({ settings: pushed.settings }, async (after) => {
          const { request } = await changed(change);
          const theirs = await suite.harness.external(request.externalName);
          const put = () => untilReady(() => suite.put({ ...request, valueChanged: false }, after));
          if (change in leavesOutside) {
            expect(await suite.faultOf(put)).toMatchObject({ kind: leavesOutside[change]!.kind });
            expect(await suite.harness.external(request.externalName)).toEqual(theirs);
            return;
          }
          await put();
          const { tags } = pushed;
          expect(await suite.harness.external(request.externalName)).toMatchObject({ value: one, tags });
        }),
    );

  test('each change that puts leave as it is is made', () =>
    expect(Object.keys(changesOutside)).toEqual(expect.arrayContaining(Object.keys(leavesOutside))));
}
