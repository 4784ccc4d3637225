import { describe, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { createEgressGuard } from '@secrets/sync-worker';
import { putRequest, throttledSeconds } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver({ pageSize: 2 });
const inTeam = useDriver({}, 'sandbox-team');
const signal = () => AbortSignal.timeout(60_000);
const firstPut = () => putRequest(driver.harness.freshName(), 'x');

describe('Common', () => {
  test('a wrong token is unauthenticated, although the status is 403', async () => {
    const wrong = await driver.connectWith({ credentials: seal({ access_token: 'canary' }) });
    await expect(driver.put(firstPut(), wrong)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message:
        'listing the environment variables: access_token was not accepted (invalidToken); write a valid token',
    });
  });

  test('the egress guard refuses a public endpoint that resolves to a private address', async () => {
    const egress = createEgressGuard({ resolve: async () => ['169.254.169.254'] });
    const inward = await driver.connectWith({}, { egress, endpointUrl: undefined });
    await expect(driver.put(firstPut(), inward)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/^connection to api\.vercel\.com refused/),
    });
  });

  test('production that the token may not see is not absent', async () => {
    const hidden = { id: 'prj_hidden', name: 'hidden', hidesProduction: true };
    const own = await startHarness({ projects: [hidden] });
    own.sandbox.webhost.plant({ key: 'A', value: 'theirs' });
    const [connected, development] = [
      await own.connectWith({}),
      await own.connectWith({ settings: { deployment_environments: ['development'] } }),
    ];
    const fault = { kind: 'forbidden', message: 'the token may not see the variables for production' };
    await expect(connected.put(putRequest('A', 'ours'), signal())).rejects.toMatchObject(fault);
    const request = { entryId: 'entry', externalName: 'B', remote: null, putStartedAt: new Date() };
    await expect(connected.remove(request, signal())).rejects.toMatchObject(fault);
    const { remote } = await development.put(putRequest('B', 'ours'), signal());
    await development.remove({ ...request, remote }, signal());
    expect(own.records('B')).toEqual([]);
    await Promise.all([connected.close(), development.close()]);
    await own.stop();
  });
});

describe('webhost-project 7: pages and teams', () => {
  test('pages are followed to the end', async () => {
    const key = driver.harness.freshName();
    await driver.harness.plant({ key });
    for (let others = 1; others <= 5; others += 1) await driver.putNew();
    driver.harness.calls();
    await expect(driver.put(putRequest(key, 'ours'))).rejects.toMatchObject({ kind: 'conflict' });
    expect(driver.harness.calls()).toEqual(['filterProjectEnvs', 'filterProjectEnvs', 'filterProjectEnvs']);
  });

  test('teamId is sent for a project of a team, and omitted for one of the user', async () => {
    const sent = (harness: typeof driver.harness) =>
      new Set(harness.sandbox.webhost.calls().map((call) => call.sent.includes('teamId')));
    const { name, remote, next } = await inTeam.putNew();
    await inTeam.put(next('two'));
    await inTeam.remove(name, remote);
    expect([...sent(inTeam.harness)]).toEqual([true]);
    expect([...sent(driver.harness)]).toEqual([false]);
  });

  test.each([
    [
      'a team of others',
      'team_of_others',
      'forbidden',
      /permission denied \(forbidden\); check project_id, team_id/,
    ],
    ['a wrong team', undefined, 'rejected', /not found \(not_found\); check project_id, team_id/],
  ])('%s is %s, and the message says where to look', async (_, teamId, kind, message) => {
    const team_id = teamId ?? inTeam.harness.sandbox.webhost.projects[1]!.teamId!;
    const wrong = await driver.connectWith({ settings: { team_id } });
    await expect(driver.put(firstPut(), wrong)).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(message),
    });
    await expect(driver.remove('A', null, wrong)).rejects.toMatchObject({ kind });
  });
});

describe('webhost-project 8: a throttled call reports how long to wait', () => {
  test('as Retry-After states', async () => {
    driver.harness.inject('throttled');
    await expect(driver.put(firstPut())).rejects.toMatchObject({
      kind: 'throttled',
      retryAfterSeconds: throttledSeconds,
    });
  });

  test('or until the time in X-RateLimit-Reset', async () => {
    driver.harness.sandbox.webhost.faults.add({ effect: 'throttle' });
    const fault = await driver.put(firstPut()).catch((error: unknown) => error);
    expect(fault).toMatchObject({ kind: 'throttled', message: expect.stringContaining('(rate_limited)') });
    const { retryAfterSeconds } = fault as { retryAfterSeconds: number };
    expect(retryAfterSeconds).toBeGreaterThan(55);
    expect(retryAfterSeconds).toBeLessThanOrEqual(61);
  });
});
