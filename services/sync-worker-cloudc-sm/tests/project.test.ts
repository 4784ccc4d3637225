import { expect, test } from '@jest/globals';
import { ScopeMemory } from '@secrets/sync-worker';
import { newValue, putRequest, useDriverHarness } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

const driver = useDriverHarness({ start: () => startHarness() });

test('the number of the project is remembered at the first contact, and another one gets no value', async () => {
  let remembered: string | null = null;
  const connect = async (id: string | null) =>
    driver.keep(await driver.harness.connectAs(new ScopeMemory(id, async (seen) => (remembered ??= seen))));
  const request = putRequest(driver.harness.freshName(), 'one');
  const { remote } = await driver.put(request, await connect(null));
  expect(remembered).toMatch(/^\d+$/);
  const other = await connect('1');
  const isAnother = {
    kind: 'rejected',
    message: expect.stringMatching(/is now another project \(ID \d+, was 1\)/),
  };
  await expect(driver.put({ ...request, ...newValue(request, 'two'), remote }, other)).rejects.toMatchObject(
    isAnother,
  );
  const fresh = putRequest(driver.harness.freshName(), 'canary');
  await expect(driver.put(fresh, other)).rejects.toMatchObject(isAnother);
  await expect(driver.remove(request.externalName, remote, other)).rejects.toMatchObject(isAnother);
  expect(driver.harness.held(request.externalName)?.value).toBe('one');
  expect(driver.harness.held(fresh.externalName)?.value).not.toBe('canary');
});
