import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventuallyEqual } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { useInstallation } from '../use-installation.ts';

const system = useInstallation();
let at: SyncFixture;

beforeEach(async () => {
  await system.sandbox.clearFaults();
  at = await SyncFixture.create(system);
});

const check = async (destination = at) =>
  expectStatus(await system.api('POST', `${destination.path}/check`), 200).body.data;
const probes = async () =>
  Object.keys(await system.sandbox.secrets()).filter((name) => name.includes('-check-'));
const operations = async () => (await system.sandbox.calls()).map(({ operation }) => operation);

describe('a check', () => {
  test('creates, changes and removes an external secret, and leaves nothing behind', async () => {
    const before = (await operations()).length;
    expect(await check()).toEqual({
      ok: true,
      steps: ['connect', 'create', 'change', 'remove'].map((step) => ({
        step,
        result: 'ok',
        fault: null,
        message: null,
      })),
    });
    expect((await operations()).slice(before)).toEqual(
      expect.arrayContaining(['CreateSecret', 'PutSecretValue', 'DeleteSecret']),
    );
    expect(await probes()).toEqual([]);
    expect(await at.associations()).toEqual({});
  });

  test('names the permission that is missing, and still leaves nothing behind', async () => {
    await system.sandbox.fault({
      effect: 'error',
      code: 'AccessDeniedException',
      status: 400,
      operation: 'PutSecretValue',
    });
    const { ok, steps } = await check();
    expect(ok).toBe(false);
    expect(steps.map(({ result }: { result: string }) => result)).toEqual(['ok', 'ok', 'failed', 'ok']);
    expect(steps[2]).toMatchObject({ fault: 'forbidden', message: expect.stringContaining('AccessDenied') });
    expect(await probes()).toEqual([]);
  });

  test('reports refused credentials', async () => {
    at = await SyncFixture.create(system, { access_key_id: 'AKIAWRONG', secret_access_key: 'wrong' });
    const { steps } = await check();
    expect(steps[1]).toMatchObject({ step: 'create', result: 'failed', fault: 'unauthenticated' });
  });

  test('removes a probe that an earlier check could not remove', async () => {
    const refusal = {
      effect: 'error',
      code: 'AccessDeniedException',
      status: 400,
      operation: 'DeleteSecret',
    };
    await system.sandbox.fault(refusal);
    const { steps } = await check();
    expect(steps[3]).toMatchObject({ step: 'remove', result: 'failed', fault: 'forbidden' });
    expect(await probes()).toHaveLength(1);
    await system.sandbox.clearFaults();
    expect(await check()).toMatchObject({ ok: true });
    await eventuallyEqual(probes, []);
  });
});
