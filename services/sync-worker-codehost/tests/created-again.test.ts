import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import type { ConnectedDestination } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { sealFor } from '../src/secret/scope-key.ts';
import { type CodehostHarness, startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
const name = 'SHARED';
const at = { owner: 'acme', repo: 'web', secret_name: name };
const request = putRequest(name, 'one');

let nowMs: number;
let harness: CodehostHarness;
let connected: ConnectedDestination;
let remote: Json;
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 1);
  harness = await startHarness({}, { clock: () => nowMs });
  connected = await harness.connect();
  ({ remote } = await connected.put(request, signal()));
});
afterEach(async () => {
  await connected.close();
  await harness.stop();
});

const next = (text: string) => ({ ...request, ...newValue(request, text), remote });
const deleteOutside = () => harness.stranger.rest.actions.deleteRepoSecret(at);
const remove = (known: Json) =>
  connected.remove({ entryId: 'e', externalName: name, remote: known, putStartedAt: null }, signal());
const value = () => harness.held(name)?.value;

describe('a secret that somebody else has deleted and created again', () => {
  beforeEach(async () => {
    nowMs += 60_000;
    await deleteOutside();
    await harness.plantForeign(name, 'theirs');
  });

  test.each([
    ['a new value', () => next('two')],
    ['a comparison', () => ({ ...request, remote, valueChanged: false, verify: true })],
  ])('is foreign: %s does not overwrite it, and a removal leaves it', async (_, again) => {
    await expect(connected.put(again(), signal())).rejects.toMatchObject({
      kind: 'conflict',
      message: '"SHARED" was deleted and created again by somebody else; set "overwrite" to take it over',
    });
    await remove(remote);
    expect(value()).toBe('theirs');
  });

  test('is taken over with overwrite, and is the own one from then on', async () => {
    const taken = await connected.put({ ...next('two'), overwrite: true }, signal());
    const third = { ...next('three'), remote: taken.remote };
    const { remote: known } = await connected.put(third, signal());
    expect(value()).toBe('three');
    await remove(known);
    expect(value()).toBeUndefined();
  });
});

describe.each([
  ['an environment', { environment_name: 'production' }, '/repos/acme/web/environments/production/secrets'],
  ['Dependabot', { secrets_app: 'dependabot' }, '/repos/acme/web/dependabot/secrets'],
  ['Codespaces', { secrets_app: 'codespaces' }, '/repos/acme/web/codespaces/secrets'],
  [
    'an organization',
    {
      secrets_location: 'organization',
      organization_name: 'acme',
      repository_owner: '',
      repository_name: '',
    },
    '/orgs/acme/actions/secrets',
  ],
])('in %s', (_, settings, path) => {
  test('a secret that somebody else has deleted and created again is foreign, too', async () => {
    const { request: call } = harness.stranger;
    const own = await harness.connect({ settings });
    const { remote: known } = await own.put(request, signal());
    nowMs += 60_000;
    await call(`DELETE ${path}/${name}`);
    const { data: key } = await call(`GET ${path}/public-key`);
    await call(`PUT ${path}/${name}`, {
      ...(await sealFor(key, 'theirs')),
      ...(path.startsWith('/orgs') && { visibility: 'all' }),
    });
    await expect(own.put({ ...next('two'), remote: known }, signal())).rejects.toMatchObject({
      kind: 'conflict',
    });
    await own.remove({ entryId: 'e', externalName: name, remote: known, putStartedAt: null }, signal());
    expect((await call(`GET ${path}/${name}`)).status).toBe(200);
    await own.close();
  });
});

test('a secret that a put has created again is the own one, also if the outcome of the put is lost', async () => {
  await deleteOutside();
  nowMs += 60_000;
  let recorded = remote;
  const recordRemote = async (known: Json) => {
    recorded = known;
    harness.inject('diesAfterActing');
  };
  await expect(connected.put({ ...next('two'), recordRemote }, signal())).rejects.toMatchObject({
    kind: 'unavailable',
  });
  expect(value()).toBe('two');
  await connected.put({ ...next('three'), remote: recorded }, signal());
  expect(value()).toBe('three');
});

test('a secret is the own one if the provider dates its creation seconds after its response', async () => {
  nowMs += 3_000;
  await deleteOutside();
  await harness.plantForeign(name, 'one');
  await connected.put(next('two'), signal());
  expect(value()).toBe('two');
});
