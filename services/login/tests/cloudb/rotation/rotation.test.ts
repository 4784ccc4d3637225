import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { rotateNow, runDueRotations } from '../../../src/auth-methods/cloudb/rotation/run-rotation.ts';
import { quickly, type RotationForTest, startRotationForTest } from './rotation-for-test.ts';

let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
});
beforeEach(() => cloud.beginAgain());
afterAll(() => cloud.stop());

const rotate = () => cloud.service.call('POST', '/auth/cloudB/rotate-root');
const readConfig = async () => (await cloud.service.call('GET', '/auth/cloudB/config')).body.data;
const runDue = () => runDueRotations(cloud.contextOf(), () => false, quickly);
const isAccepted = async () =>
  cloud.sandbox.directory.passwords.check(await cloud.storedSecret()) === 'accepted';

describe('a rotation on request', () => {
  test('replaces the secret, removes only the one that it replaces, and shows when the new one expires', async () => {
    const before = await cloud.storedSecret();
    expect(await readConfig()).not.toHaveProperty('root_password_expiration_date');
    await cloud.configure({ root_password_ttl: '24h', client_secret: undefined });
    expect((await rotate()).status).toBe(204);
    expect(await cloud.storedSecret()).not.toBe(before);
    expect(await isAccepted()).toBe(true);
    expect(cloud.ownPasswords()).toEqual([expect.stringMatching(/^secrets-service rotation /)]);
    const { root_password_expiration_date: expiry } = await readConfig();
    expect(Math.abs(Date.parse(expiry) - Date.now() - 86_400_000)).toBeLessThan(60_000);
  });

  test('twice leaves one password', async () => {
    expect([(await rotate()).status, (await rotate()).status]).toEqual([204, 204]);
    expect(cloud.ownPasswords()).toHaveLength(1);
    expect(await isAccepted()).toBe(true);
  });

  test('is used by the next login on every replica', async () => {
    const replica = cloud.replica();
    const name = { ...cloud.sandbox.resourceManager.defaultGroup, name: 'web-1' };
    expect(await (await replica.provider()).findMachine(name)).toBeDefined();
    expect((await rotate()).status).toBe(204);
    cloud.calls();
    expect(await (await replica.provider()).findMachine(name)).toBeDefined();
    expect(cloud.calls()).toEqual(['token', 'VirtualMachines_Get']);
  });

  test('succeeds if the replaced password cannot be removed yet, which the background work does', async () => {
    cloud.sandbox.graph.faults.add({
      effect: 'server-error',
      operation: 'application.removePassword',
      times: 1,
    });
    const { status, body } = await rotate();
    expect([status, body.warnings]).toEqual([200, [expect.stringMatching(/is not removed yet/)]]);
    expect(await isAccepted()).toBe(true);
    expect(cloud.ownPasswords()).toHaveLength(2);
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toEqual([expect.stringMatching(/^secrets-service/)]);
  });

  test('does not remove a password if more than one begins like the secret', async () => {
    const { passwords, application } = cloud.sandbox.directory;
    passwords.add(
      { displayName: 'alike', secretText: `${application.clientSecret.slice(0, 5)} of another one` },
      0,
    );
    const { status, body } = await rotate();
    expect([status, body.warnings]).toEqual([
      200,
      [expect.stringMatching(/could not be identified and still exists/)],
    ]);
    expect(cloud.ownPasswords()).toEqual(['alike', 'sandbox', expect.stringMatching(/^secrets-service/)]);
  });

  test('waits until the directory knows the new password', async () => {
    cloud.sandbox.directory.configure({ passwordDelayMs: 1_500 });
    expect((await rotate()).status).toBe(204);
    expect(await isAccepted()).toBe(true);
  });

  test('continues in the background if that takes long', async () => {
    cloud.sandbox.directory.configure({ passwordDelayMs: 600_000 });
    const warnings: string[] = [];
    await rotateNow(cloud.contextOf(), cloud.mount, (sentence) => warnings.push(sentence), quickly);
    expect(warnings).toEqual([expect.stringMatching(/continues in the background$/)]);
    expect(await cloud.storedSecret()).toBe(cloud.sandbox.directory.application.clientSecret);
    const { passwords } = cloud.sandbox.directory;
    for (const password of passwords.list()) password.worksFromMs = 0;
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toEqual([expect.stringMatching(/^secrets-service/)]);
    expect(await isAccepted()).toBe(true);
  });

  test('gives up a password that does not work for an hour, and removes it', async () => {
    cloud.sandbox.directory.configure({ passwordDelayMs: 600_000 });
    await rotateNow(cloud.contextOf(), cloud.mount, () => undefined, quickly);
    await cloud.service.db.query(
      "update login.cloudb_rotations set pending_since = now() - interval '2 hours'",
    );
    await cloud.letTimePass();
    await runDue();
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
  });

  test('runs once at a time', async () => {
    const statuses = (await Promise.all([rotate(), rotate()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, 409]);
    expect(cloud.ownPasswords()).toHaveLength(1);
  });

  test('is refused without a secret, and without a configuration', async () => {
    await cloud.configure({ client_secret: '' });
    expect(await rotate()).toMatchObject({
      status: 400,
      body: { errors: ['there is no client_secret to rotate'] },
    });
    await cloud.service.call('DELETE', '/auth/cloudB/config');
    expect((await rotate()).status).toBe(404);
  });

  test.each([
    ['without a client_id', { client_id: '', client_secret: 'secret' }, /^client_id is not configured/],
    [
      'of a tenant that the directory does not know',
      { tenant_id: '99999999-aaaa-4bbb-8ccc-222222222222', client_secret: 'secret' },
      /does not know the configured tenant_id \(AADSTS90002\)$/,
    ],
  ])('is refused with 400 for credentials %s', async (_what, config, sentence) => {
    await cloud.configure(config);
    expect(await rotate()).toMatchObject({
      status: 400,
      body: { errors: [expect.stringMatching(sentence)] },
    });
  });

  test('names the permission that is missing, as does the check', async () => {
    cloud.sandbox.directory.configure({ graphPermissions: ['Application.Read.All'] });
    const sentence = expect.stringContaining('it needs the application permission Application.ReadWrite.All');
    expect(await rotate()).toMatchObject({ status: 502, body: { errors: [sentence] } });
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
    const { body } = await cloud.service.call('POST', '/auth/cloudB/config/check');
    expect(body.data.steps.at(-1).result).toEqual(sentence);
  });

  test('whose request had an effect, but no response, is cleaned up', async () => {
    cloud.sandbox.graph.faults.add({
      effect: 'act-then-die',
      operation: 'application.addPassword',
      times: 1,
    });
    expect((await rotate()).status).toBe(503);
    expect(cloud.ownPasswords()).toHaveLength(2);
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
  });

  test('is cleaned up later if the password is not listed yet', async () => {
    const { faults } = cloud.sandbox.graph;
    faults.add({ effect: 'act-then-die', operation: 'application.addPassword', times: 1 });
    expect((await rotate()).status).toBe(503);
    faults.add({ effect: 'stale-list', operation: 'application.GetApplication', ms: 600_000 });
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toHaveLength(2);
    faults.clear();
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
  });

  test('does not replace a secret that was written meanwhile, and removes what it added', async () => {
    const { clientSecret } = cloud.sandbox.directory.application;
    const { faults } = cloud.sandbox.graph;
    faults.add({ effect: 'slow', ms: 3_000, operation: 'application.addPassword', times: 1 });
    const rotating = rotate();
    while (faults.list().length > 0) await sleep(5); // the request has arrived
    await cloud.configure();
    expect((await rotating).status).toBe(409);
    expect(await cloud.storedSecret()).toBe(clientSecret);
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
  });

  test('neither returns nor logs a secret', async () => {
    const response = await rotate();
    const secrets = [await cloud.storedSecret(), cloud.sandbox.directory.application.clientSecret];
    for (const secret of secrets) {
      expect(JSON.stringify([response, await readConfig()])).not.toContain(secret);
      expect(cloud.service.logged()).not.toContain(secret);
    }
  });
});

test('no password is added or removed while syncing is held: this database may be a copy', async () => {
  const hold = (otherName: string | null) =>
    cloud.service.db.query('update sync.installation set other_name = $1', [otherName]);
  await cloud.configure({ rotation_period: '24h', client_secret: undefined });
  await cloud.service.db.query('update login.cloudb_rotations set scheduled_at = now(), due_at = now()');
  await hold('copy');
  const { status, body } = await rotate();
  expect([status, body.errors]).toEqual([409, [expect.stringMatching('^syncing is held')]]);
  await runDue();
  expect(cloud.ownPasswords()).toEqual(['sandbox']);
  await hold(null);
  await runDue();
  expect(cloud.ownPasswords()).toEqual([expect.stringMatching(/^secrets-service/)]);
});

describe('a scheduled rotation', () => {
  const scheduled = async (column: string): Promise<Date | null> =>
    (
      await cloud.service.db.query<{ at: Date | null }>(`select ${column} as at from login.cloudb_rotations`)
    )[0]!.at;
  const makeDue = (ago: string) =>
    cloud.service.db.query(
      'update login.cloudb_rotations set scheduled_at = now() - $1::interval, due_at = now() - $1::interval',
      [ago],
    );

  test('begins a period after the secret was written, and again a period later', async () => {
    await cloud.configure({ rotation_period: '24h', client_secret: undefined });
    expect((await scheduled('due_at'))!.getTime()).toBeGreaterThan(Date.now() + 86_000_000);
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
    await makeDue('1 second');
    await runDue();
    expect(cloud.ownPasswords()).toEqual([expect.stringMatching(/^secrets-service/)]);
    expect((await scheduled('due_at'))!.getTime()).toBeGreaterThan(Date.now() + 86_000_000);
  });

  test('is skipped when its window is over', async () => {
    const schedule = { rotation_schedule: '0 3 1 1 *', rotation_window: '1h', client_secret: undefined };
    await cloud.configure(schedule);
    await makeDue('2 hours');
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
    expect((await scheduled('scheduled_at'))!.getTime()).toBeGreaterThan(Date.now());
    await makeDue('30 minutes');
    await runDue();
    expect(cloud.ownPasswords()).toEqual([expect.stringMatching(/^secrets-service/)]);
  });

  test('is tried again later if it fails', async () => {
    await cloud.configure({ rotation_period: '24h', client_secret: undefined });
    await makeDue('1 second');
    cloud.sandbox.graph.faults.add({
      effect: 'server-error',
      operation: 'application.addPassword',
      times: 1,
    });
    await runDue();
    expect(cloud.ownPasswords()).toEqual(['sandbox']);
    expect((await scheduled('due_at'))!.getTime()).toBeGreaterThan(Date.now() + 30_000);
    await cloud.letTimePass();
    await runDue();
    expect(cloud.ownPasswords()).toEqual([expect.stringMatching(/^secrets-service/)]);
  });

  test('does not take place if it is disabled', async () => {
    await cloud.configure({
      rotation_period: '24h',
      disable_automated_rotation: true,
      client_secret: undefined,
    });
    expect(await scheduled('due_at')).toBeNull();
  });
});
