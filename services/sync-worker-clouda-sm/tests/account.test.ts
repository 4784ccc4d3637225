import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { ScopeMemory } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { cloudaSmDriver } from '../src/driver.ts';
import { type CloudAHarness, startHarness } from './sandbox-harness.ts';

const keyOf = (accountId: string) => ({
  accessKeyId: `AKIA${accountId}`,
  secretAccessKey: `secret of ${accountId}`,
  accountId,
});
const [one, other] = [keyOf('111111111111'), keyOf('222222222222')];
const signal = () => AbortSignal.timeout(60_000);

let harness: CloudAHarness;
beforeAll(async () => {
  harness = await startHarness({ accessKeys: [one, other] });
});
afterAll(() => harness.stop());

/** Connects with the key of an account, and with what is remembered. */
const connect = (key: typeof one, remembered: string | null) => {
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = key;
  const scope = new ScopeMemory(remembered, async (id) => id);
  const credentials = seal({ access_key_id, secret_access_key });
  return harness.connectAs(
    cloudaSmDriver({ endpointUrl: harness.sandbox.cloudAUrl }),
    { credentials },
    scope,
  );
};

test('the account of the first secret is remembered: credentials of another one write and remove nothing', async () => {
  const scope = { id: null as string | null };
  const first = await connect(one, null);
  const request = putRequest(harness.freshName(), 'one');
  const { remote } = await first.put(request, signal());
  scope.id = '111111111111';
  const replaced = await connect(other, scope.id);
  const isAnother = {
    kind: 'rejected',
    message: expect.stringMatching(
      /^the account of the credentials is now another account \(ID 222222222222, was 111111111111\)/,
    ),
  };
  const next = { ...request, ...newValue(request, 'two'), remote };
  await expect(replaced.put(next, signal())).rejects.toMatchObject(isAnother);
  await expect(replaced.put(putRequest(harness.freshName(), 'x'), signal())).rejects.toMatchObject(isAnother);
  const removal = { entryId: 'e', externalName: request.externalName, remote, putStartedAt: null };
  await expect(replaced.remove(removal, signal())).rejects.toMatchObject(isAnother);
  expect(harness.sandbox.cloudA.secrets().map(({ value }) => value)).toEqual(['one']);
});

test('without the token service, the first response shows the account, and what was created in it is deleted', async () => {
  harness.sandbox.cloudA.faults.add({ effect: 'reset', operation: 'GetCallerIdentity' });
  const replaced = await connect(other, '111111111111');
  const request = putRequest(harness.freshName(), 'x');
  await expect(replaced.put(request, signal())).rejects.toMatchObject({ kind: 'rejected' });
  expect(harness.held(request.externalName)).toBeUndefined();
  harness.clear();
});

test('a confirmed account gets the secret that the earlier one has', async () => {
  const request = putRequest(harness.freshName(), 'one');
  const { remote } = await (await connect(one, null)).put(request, signal());
  const confirmed = await connect(other, '222222222222');
  await confirmed.put({ ...request, remote, valueChanged: false, verify: true }, signal());
  const found = harness.sandbox.cloudA.secrets().filter(({ name }) => name === request.externalName);
  expect(found.map(({ value }) => value)).toEqual(['one', 'one']);
});

test('a client asks for its account at most once', async () => {
  const connected = await connect(one, '111111111111');
  harness.calls();
  for (let index = 0; index < 2; index += 1)
    await connected.put(putRequest(harness.freshName(), 'x'), signal());
  expect(harness.calls()).toEqual(['GetCallerIdentity', 'CreateSecret', 'CreateSecret']);
});
