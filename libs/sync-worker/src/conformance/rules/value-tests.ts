import { expect, test } from '@jest/globals';
import { canary, type DriverSuite } from '../driver-suite.ts';
import { newValue, putRequest } from '../put-request.ts';
import { untilReady } from '../until-ready.ts';

/** Tests which values are written, and when. */
export function valueTests(suite: DriverSuite): void {
  test('put creates a new secret, updates a known one, and writes an earlier value again', async () => {
    let { request, remote } = await suite.putNew();
    for (const value of [`${canary} two`, `${canary} one`, `${canary} ☃ "\n`]) {
      request = { ...request, ...newValue(request, value), remote };
      remote = (await suite.put(request)).remote;
      expect(await suite.valueOf(request.externalName)).toBe(value);
    }
  });

  test('put creates a known secret again if it was removed', async () => {
    const { request, remote } = await suite.putNew();
    await suite.remove(request, remote);
    const changed = { ...request, ...newValue(request, `${canary} two`), remote };
    await untilReady(() => suite.put(changed));
    expect(await suite.valueOf(request.externalName)).toBe(`${canary} two`);
  });

  test('put makes no call if nothing changed', async () => {
    const { request, remote } = await suite.putNew();
    const before = suite.harness.callCount();
    const again = await suite.put({ ...request, remote, valueChanged: false });
    expect(again.remote).toEqual(remote);
    expect(suite.harness.callCount()).toBe(before);
  });

  test('put with verify writes nothing if the external secret is unchanged', async () => {
    const { request, remote } = await suite.putNew();
    await suite.put({ ...request, remote, valueChanged: false, verify: true });
    const held = await suite.harness.external(request.externalName);
    expect(held).toMatchObject({ value: `${canary} one`, writes: 1 });
  });
}

/** Tests the size limit of the description. */
export function sizeTests(suite: DriverSuite): void {
  const { maxValueBytes, takesEmptyValue } = suite.subject;
  const largest = 'é'.repeat(maxValueBytes / 2);
  const refused = (value: string) =>
    suite.faultOf(() => suite.put(putRequest(suite.harness.freshName(), value)));

  test('put accepts a value of the maximum size, in bytes', async () => {
    const { request } = await suite.putNew(largest);
    expect(await suite.valueOf(request.externalName)).toBe(largest);
  });

  test('put refuses a larger value without a call, and states its size', async () => {
    const before = suite.harness.callCount();
    const fault = await refused(`${largest}x`);
    expect(fault).toMatchObject({
      kind: 'too_large',
      message: expect.stringContaining(String(maxValueBytes + 1)),
    });
    expect(suite.harness.callCount()).toBe(before);
  });

  if (takesEmptyValue) return;
  test('put refuses an empty value without a call', async () => {
    const before = suite.harness.callCount();
    expect((await refused('')).kind).toBe('rejected');
    expect(suite.harness.callCount()).toBe(before);
  });
}
