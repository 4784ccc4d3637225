import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { sealFor } from '../src/secret/scope-key.ts';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const organization = { secrets_location: 'organization', organization_name: 'acme' };
const selecting = (...selected_repository_names: string[]) => ({
  ...organization,
  organization_visibility: 'selected',
  selected_repository_names,
});
const driver = useDriver({}, organization);
const { connect, put, putNew, remove } = driver;
const signal = () => AbortSignal.timeout(60_000);
const held = (name: string) => driver.harness.held(name, 'organization acme');
const access = (name: string) => held(name)?.tags;

describe('codehost 3: who sees the secret of an organization', () => {
  test('is sent with every value, private by default', async () => {
    const everyone = await connect({ ...organization, organization_visibility: 'all' });
    const { name, next, remote } = await putNew(everyone);
    await put(next('two'), everyone);
    expect(access(name)).toEqual({ visibility: 'all' });
    await remove(name, remote, everyone);
    expect(held(name)).toBeUndefined();
    expect(access((await putNew()).name)).toEqual({ visibility: 'private' });
  });

  test('with a list of repositories, the full list is sent every time', async () => {
    const some = await connect(selecting('WEB', 'api'));
    const { name, next } = await putNew(some);
    await put(next('two'), some);
    expect(access(name)).toEqual({ visibility: 'selected', repositories: 'web, api' });
  });

  test('codehost 9: the IDs of repositories are looked up once, in a list that is followed to its end', async () => {
    const repositories = Array.from({ length: 250 }, (_, number) => ({ owner: 'acme', name: `r${number}` }));
    const own = await startHarness({ repositories });
    const connected = await own.connect({
      settings: { repository_owner: '', repository_name: '', ...selecting('r0', 'r249') },
    });
    const [first, second] = [putRequest('FIRST', 'x'), putRequest('SECOND', 'x')];
    await connected.put(first, signal());
    expect(own.calls().filter((call) => call === 'listRepositories')).toHaveLength(3);
    await connected.put(second, signal());
    expect(own.calls()).not.toContain('listRepositories');
    expect(own.held('FIRST', 'organization acme')?.tags.repositories).toBe('r0, r249');
    await connected.close();
    await own.stop();
  });

  test('an unknown repository is rejected and named, before anything is written', async () => {
    const unknown = await connect(selecting('web', 'nowhere', 'else'));
    const request = putRequest(driver.harness.freshName(), 'x');
    await expect(put(request, unknown)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/^selected_repository_names: .* acme has no nowhere, else,/),
    });
    expect(held(request.externalName)).toBeUndefined();
  });

  test('an unknown repository leaves no start behind, so that the secret stays foreign', async () => {
    const unknown = await connect(selecting('nowhere'));
    const starts: unknown[] = [];
    const recordStart = async () => void starts.push('started');
    const request = putRequest(driver.harness.freshName(), 'x', { recordStart });
    await expect(put(request, unknown)).rejects.toMatchObject({ kind: 'rejected' });
    expect(starts).toEqual([]);
  });

  test('a repository that is gone is looked up again when a write is refused', async () => {
    const own = await startHarness();
    const connected = await own.connect({ settings: selecting('web', 'api') });
    const { repos } = own.stranger.rest;
    const request = putRequest('FIRST', 'one');
    const { remote } = await connected.put(request, signal());
    await repos.delete({ owner: 'acme', repo: 'web' });
    await repos.createInOrg({ org: 'acme', name: 'web' });
    own.calls();
    const next = { ...request, ...newValue(request, 'two'), remote };
    await expect(connected.put(next, signal())).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/^selected_repository_names: web of .* is now another repository/),
    });
    expect(own.calls()).toEqual([
      'getOrgSecret',
      'createOrUpdateOrgSecret',
      'getOrgPublicKey',
      'listRepositories',
    ]);
    expect(own.held('FIRST', 'organization acme')?.value).toBe('one');
    await connected.close();
    await own.stop();
  });

  test('is not changed without the value if someone else has changed that: it is written again', async () => {
    let ahead = 0;
    const own = await startHarness({}, { clock: () => Date.now() + ahead });
    const [hidden, shown] = [
      await own.connect({ settings: organization }),
      await own.connect({ settings: { ...organization, organization_visibility: 'all' } }),
    ];
    const request = putRequest('EDITED', 'ours');
    const { remote } = await hidden.put(request, signal());
    ahead = 2_000;
    const { rest } = own.stranger;
    const { data: key } = await rest.actions.getOrgPublicKey({ org: 'acme' });
    await rest.actions.createOrUpdateOrgSecret({
      ...{ org: 'acme', secret_name: 'EDITED', visibility: 'private' as const },
      ...(await sealFor(key, 'theirs')),
    });
    await shown.put({ ...request, remote, valueChanged: false }, signal());
    expect(own.held('EDITED', 'organization acme')).toMatchObject({
      value: 'ours',
      tags: { visibility: 'all' },
    });
    await Promise.all([hidden.close(), shown.close()]);
    await own.stop();
  });

  test('is changed without the value', async () => {
    const { name, unchanged } = await putNew();
    const everyone = await connect({ ...organization, organization_visibility: 'all' });
    const changed = await put(unchanged, everyone);
    expect(access(name)).toEqual({ visibility: 'all' });
    expect(driver.harness.calls()).toEqual(['getOrgSecret', 'createOrUpdateOrgSecret', 'getOrgSecret']);
    const some = await connect(selecting('web'));
    const selected = await put({ ...unchanged, remote: changed.remote }, some);
    expect(access(name)).toEqual({ visibility: 'selected', repositories: 'web' });
    const others = await connect(selecting('docs', 'api'));
    const final = await put({ ...unchanged, remote: selected.remote }, others);
    expect(held(name)).toMatchObject({ value: 'one', version_count: 1 });
    expect(access(name)?.repositories).toBe('docs, api');
    expect(driver.harness.calls().filter((call) => !/^(get|list)/.test(call))).toEqual([
      'createOrUpdateOrgSecret',
      'setSelectedReposForOrgSecret',
    ]);
    await put({ ...unchanged, remote: final.remote }, others);
    expect(driver.harness.calls()).toEqual([]);
    const cleared = await connect(organization);
    await put({ ...unchanged, remote: final.remote }, cleared);
    expect(access(name)).toEqual({ visibility: 'private' });
  });

  test('is compared after each write, and a secret that has another one is not synced until it is repaired', async () => {
    const { name, next } = await putNew();
    const { codehost } = driver.harness.sandbox;
    const fault = codehost.faults.add({ effect: 'slow', operation: 'getOrgSecret', ms: 1_000 });
    driver.harness.calls();
    let recorded: Json = null;
    const recordRemote = async (remote: Json) => {
      recorded = remote;
    };
    const putting = put({ ...next('two'), recordRemote });
    const refused = expect(putting).rejects.toMatchObject({
      kind: 'rejected',
      mayPass: true,
      message: expect.stringMatching(
        /has stored the secret with the visibility all, although private was req/,
      ),
    });
    while (held(name)?.value !== 'two') await sleep(5);
    const records = [...codehost.snapshot()] as { secret?: { name: string } }[];
    const secret = records.find((record) => record.secret?.name === name)?.secret;
    codehost.replay({ secret: { ...secret, access: { visibility: 'all', repositoryIds: [] } } });
    await refused;
    codehost.faults.remove(fault);
    await put({ ...next('two'), valueChanged: false, remote: recorded });
    expect(access(name)).toEqual({ visibility: 'private' });
  });

  test('is changed with the value where a server demands it', async () => {
    const strict = await startHarness({ takesAccessAlone: false });
    const settings = { repository_owner: '', repository_name: '', ...organization };
    const [hidden, shown] = [
      await strict.connect({ settings }),
      await strict.connect({ settings: { ...settings, organization_visibility: 'all' } }),
    ];
    const requests = ['STRICT', 'SECOND'].map((name) => putRequest(name, 'one'));
    for (const request of requests) {
      const { remote } = await hidden.put(request, signal());
      strict.calls();
      await shown.put({ ...request, remote, valueChanged: false }, signal());
    }
    expect(strict.calls()).toEqual(['getOrgSecret', 'createOrUpdateOrgSecret', 'getOrgSecret']); // refused for the first only
    expect(strict.held('STRICT', 'organization acme')).toMatchObject({
      value: 'one',
      tags: { visibility: 'all' },
    });
    await Promise.all([hidden.close(), shown.close()]);
    await strict.stop();
  });

  test.each([400, 409, 422])('is changed with the value if the server refuses with %i', async (status) => {
    const [some, others] = [await connect(selecting('web')), await connect(selecting('api'))];
    const everyone = await connect({ ...organization, organization_visibility: 'all' });
    const { name, unchanged } = await putNew(some);
    const refused = { effect: 'error', status, code: 'X', times: 1 } as const;
    const { faults } = driver.harness.sandbox.codehost;
    faults.add({ ...refused, operation: 'setSelectedReposForOrgSecret' });
    const listed = await put(unchanged, others);
    expect(access(name)).toEqual({ visibility: 'selected', repositories: 'api' });
    faults.add({ ...refused, operation: 'createOrUpdateOrgSecret' });
    await put({ ...unchanged, remote: listed.remote }, everyone);
    expect(held(name)).toMatchObject({ value: 'one', version_count: 3, tags: { visibility: 'all' } });
  });

  test('is repaired if someone else changed it', async () => {
    const some = await connect(selecting('web'));
    const { name, verification } = await putNew(some);
    const { data } = await driver.harness.stranger.rest.repos.get({ owner: 'acme', repo: 'docs' });
    const stranger = driver.harness.stranger.rest.actions;
    await stranger.setSelectedReposForOrgSecret({
      ...{ org: 'acme', secret_name: name, selected_repository_ids: [data.id] },
    });
    const { remote } = await put(verification, some);
    expect(access(name)).toEqual({ visibility: 'selected', repositories: 'web' });
    driver.harness.calls();
    await put({ ...verification, remote }, some);
    expect(driver.harness.calls()).toEqual(['getOrgSecret', 'listSelectedReposForOrgSecret']);
  });
});

test('codehost 7: an organization can have 1,000 secrets', async () => {
  const own = await startHarness();
  const [scope, label, at] = ['organization acme', 'organization acme', '2026-01-01T00:00:00Z'];
  for (let number = 1; number < 1_000; number += 1) {
    const secret = { scope, label, name: `S${number}`, value: 'x', createdAt: at, updatedAt: at, writes: 1 };
    own.sandbox.codehost.replay({ secret });
  }
  const connected = await own.connect({ settings: organization });
  await connected.put(putRequest('LAST', 'x'), signal());
  await expect(connected.put(putRequest('SURPLUS', 'x'), signal())).rejects.toMatchObject({
    kind: 'full',
    message: 'the organization acme already has 1000 secrets, and can have 1000',
  });
  await connected.close();
  await own.stop();
});

describe.each(['dependabot', 'codespaces'] as const)('the secrets of %s', (secrets_app) => {
  test('are others than those of Actions, in a repository and in an organization', async () => {
    const web = { repository_owner: 'acme', repository_name: 'web', secrets_app };
    for (const [settings, place] of [
      [{ ...web, secrets_location: 'repository', organization_name: '' }, 'acme/web'],
      [{ ...selecting('web'), secrets_app }, 'organization acme'],
    ] as const) {
      const connected = await connect(settings);
      const { name, next, remote, verification } = await putNew(connected);
      await put(next('two'), connected);
      expect(driver.harness.held(name, place)).toBeUndefined();
      expect(driver.harness.held(name, `${place}, ${secrets_app}`)?.value).toBe('two');
      await put(verification, connected);
      await remove(name, remote, connected);
      expect(driver.harness.held(name, `${place}, ${secrets_app}`)).toBeUndefined();
    }
  });
});
