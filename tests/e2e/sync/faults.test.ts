import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, eventuallyEqual, quietFor } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { openDatabase } from '../../harness/standalone.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { useInstallation } from '../use-installation.ts';

const system = useInstallation();
let at: SyncFixture;

beforeEach(async () => {
  await system.sandbox.clearFaults();
  at = await SyncFixture.create(system);
});

/** Lets the time until the next attempts of all entries pass. */
async function timePasses(): Promise<void> {
  const db = openDatabase(system);
  await db.query(
    'update sync.entries set due_at = now(), next_attempt_at = now() where next_attempt_at is not null',
  );
  await db.close();
}

const callsToStore = async (): Promise<number> => (await system.sandbox.calls()).length;

describe('a fault of the store', () => {
  test('permission denied: CLIENT_SIDE_ERROR with another attempt later, which succeeds once it is granted, or at once when set', async () => {
    await at.write('a', { v: 1 });
    await system.sandbox.fault({ effect: 'error', code: 'AccessDeniedException', status: 400 });
    const { body } = expectStatus(await at.setAndWait('a'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`]).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      next_attempt_at: expect.any(String),
    });
    await timePasses();
    await eventually(
      () => at.association('a'),
      (one) => one?.attempts === 2 && Date.parse(one.next_attempt_at ?? '') > Date.now(), // not while it is made
    );
    await system.sandbox.clearFaults();
    await quietFor(1_000); // a minute or more is left
    expect((await at.association('a'))?.sync_status).toBe('CLIENT_SIDE_ERROR');
    await timePasses();
    await at.untilStatus('a', 'SYNCED');
    await system.sandbox.fault({ effect: 'error', code: 'AccessDeniedException', status: 400, times: 1 });
    await at.write('b', { v: 1 });
    expectStatus(await at.setAndWait('b'), 200);
    expectStatus(await at.setAndWait('b'), 200);
    await at.untilStatus('b', 'SYNCED');
  });

  test('wrong credentials: one call finds out and the rest waits, until the destination is corrected', async () => {
    at = await SyncFixture.create(system, { access_key_id: 'AKIAWRONG', secret_access_key: 'wrong' });
    for (const name of ['a', 'b']) await at.write(name, { v: name });
    const before = await callsToStore();
    const { body } = expectStatus(await at.setAndWait('a'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`]).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      next_attempt_at: expect.any(String),
    });
    const refused = await callsToStore();
    expect(refused).toBeGreaterThan(before);
    await at.write('a', { v: 'changed' }); // a change of the secret does not lift the pause
    await at.untilStatus('a', 'PENDING');
    await quietFor(1_000);
    expect(await callsToStore()).toBe(refused);
    await at.set('b', {}, '?wait=0'); // a set lifts it, for one probe
    await at.untilStatus('a', 'CLIENT_SIDE_ERROR');
    expect((await at.association('b'))?.sync_status).toBe('PENDING');
    await at.remove('b', '?wait=0');
    expectStatus(await system.api('PATCH', at.path, await system.sandbox.credentials()), 200);
    await at.untilStatus('a', 'SYNCED');
    expect(await at.value('a')).toBe('{"v":"changed"}');
    await eventuallyEqual(async () => Object.keys(await at.associations()), [`${at.accessor}/a`]);
  });

  test('throttled once: PENDING with the reason, then SYNCED by itself', async () => {
    await at.write('a', { v: 1 });
    await system.sandbox.fault({ effect: 'throttle', retryAfterSeconds: 5, times: 1 });
    const answer = at.set('a');
    const waiting = await eventually(
      () => at.association('a'),
      (one) => one?.attempts === 1 && one.last_error !== null,
    );
    expect(waiting).toMatchObject({
      sync_status: 'PENDING',
      last_error: expect.stringContaining('too many requests'),
      next_attempt_at: expect.any(String),
    });
    const { body } = expectStatus(await answer, 200);
    expect(['PENDING', 'SYNCED']).toContain(body.data.associated_secrets[`${at.accessor}/a`].sync_status);
    await at.untilStatus('a', 'SYNCED');
  });

  test('a name still scheduled for deletion: only its own secret waits', async () => {
    for (const name of ['a', 'b']) await at.write(name, { v: name });
    // The response to a create shortly after a delete.
    const taken = {
      effect: 'error',
      operation: 'CreateSecret',
      code: 'InvalidRequestException',
      status: 400,
    };
    await system.sandbox.fault({ ...taken, name: at.externalName('a') });
    await at.set('a', {}, '?wait=0');
    const waiting = await eventually(
      () => at.association('a'),
      (one) => one !== undefined && one.last_error !== null,
    );
    expect(waiting).toMatchObject({
      sync_status: 'PENDING',
      last_error: expect.stringContaining('still in use'),
    });
    const { body } = expectStatus(await at.setAndWait('b'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/b`].sync_status).toBe('SYNCED');
    await system.sandbox.clearFaults();
    await at.untilStatus('a', 'SYNCED');
  });

  test('throttled or down: retried by itself', async () => {
    await at.write('a', { v: 1 });
    await system.sandbox.fault({ effect: 'throttle', times: 2 });
    await at.set('a', {}, '?wait=0');
    await at.untilStatus('a', 'SYNCED');
    await system.sandbox.fault({ effect: 'server-error', times: 1 });
    await at.write('a', { v: 2 });
    await at.untilValue('a', '{"v":2}');
  });

  test('connection lost after the operation: SYNCED in the end, with one version', async () => {
    await at.write('a', { v: 1 });
    await system.sandbox.fault({ effect: 'act-then-die', times: 1 });
    await at.set('a', {}, '?wait=0');
    await at.untilStatus('a', 'SYNCED');
    expect((await system.sandbox.secrets())[at.externalName('a')]).toMatchObject({
      value: '{"v":1}',
      version_count: 1,
    });
  });

  test('value too large: CLIENT_SIDE_ERROR with size and limit', async () => {
    await at.write('a', { v: 'x'.repeat(70_000) });
    const { body } = expectStatus(await at.setAndWait('a'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`]).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: expect.stringMatching(/700\d\d bytes.*65536/),
    });
  });

  test('one failing secret does not hold up the others', async () => {
    for (const name of ['bad', 'good1', 'good2']) await at.write(name, { v: name });
    await system.sandbox.fault({
      effect: 'error',
      code: 'AccessDeniedException',
      status: 400,
      name: at.externalName('bad'),
    });
    for (const name of ['bad', 'good1', 'good2']) await at.setAndWait(name);
    await at.untilStatus('bad', 'CLIENT_SIDE_ERROR');
    expect([await at.value('good1'), await at.value('good2')]).toEqual(['{"v":"good1"}', '{"v":"good2"}']);
  });
});
