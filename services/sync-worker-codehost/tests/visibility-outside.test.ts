import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import type { ConnectedDestination, PutRequest } from '@secrets/sync-worker';
import { putRequest } from '@secrets/sync-worker/testing';
import { sealFor } from '../src/secret/scope-key.ts';
import { startHarness } from './sandbox-harness.ts';

const organization = { secrets_location: 'organization', organization_name: 'acme' };
const signal = () => AbortSignal.timeout(60_000);

/** The secret of an organization that was pushed for private repositories, when the setting is changed to all of them. */
async function start() {
  let nowMs = Date.UTC(2026, 0, 1);
  const harness = await startHarness({}, { clock: () => nowMs });
  const [before, after] = [
    await harness.connect({ settings: organization }),
    await harness.connect({ settings: { ...organization, organization_visibility: 'all' } }),
  ];
  const request = putRequest('SHARED', 'ours');
  const { remote } = await before.put(request, signal());
  nowMs += 60_000;
  const at = { org: 'acme', secret_name: 'SHARED' };
  const { actions } = harness.stranger.rest;
  return {
    harness,
    after,
    change: { ...request, remote, valueChanged: false },
    deleteOutside: () => actions.deleteOrgSecret(at),
    async createOutside() {
      const { data: key } = await actions.getOrgPublicKey({ org: 'acme' });
      await actions.createOrUpdateOrgSecret({
        ...at,
        ...(await sealFor(key, 'theirs')),
        visibility: 'private',
      });
    },
    async stop() {
      await Promise.all([before.close(), after.close()]);
      await harness.stop();
    },
  };
}

describe('a change of the visibility', () => {
  let started: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    started = await start();
  });
  afterEach(() => started.stop());

  const put = (request: PutRequest, on: ConnectedDestination = started.after) => {
    started.harness.calls();
    return on.put(request, signal());
  };
  const held = () => started.harness.held('SHARED', 'organization acme');
  const writes = () => started.harness.calls().filter((operation) => !/^(get|list)/.test(operation));
  const remove = (remote: Json) =>
    started.after.remove({ ...started.change, remote, putStartedAt: null }, signal());

  test('creates a secret that somebody else has deleted, with the value', async () => {
    await started.deleteOutside();
    await put(started.change);
    expect(writes()).toEqual(['createOrUpdateOrgSecret']);
    expect(held()).toMatchObject({ value: 'ours', tags: { visibility: 'all' } });
  });

  test('leaves a secret that somebody else has deleted and created again', async () => {
    await started.deleteOutside();
    await started.createOutside();
    await expect(put(started.change)).rejects.toMatchObject({ kind: 'conflict' });
    expect(writes()).toEqual([]);
    expect(held()).toMatchObject({ value: 'theirs', tags: { visibility: 'private' } });
  });

  test('takes over such a secret with overwrite', async () => {
    await started.deleteOutside();
    await started.createOutside();
    const { remote } = await put({ ...started.change, overwrite: true });
    expect(writes()).toEqual(['createOrUpdateOrgSecret']);
    expect(held()).toMatchObject({ value: 'ours', tags: { visibility: 'all' } });
    await remove(remote);
    expect(held()).toBeUndefined();
  });
});
