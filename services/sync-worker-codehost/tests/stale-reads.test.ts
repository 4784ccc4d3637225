import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
const minute = 60_000;

/** A code host whose reads are a minute behind, with a clock that is set. */
async function startLagging(settings: Record<string, unknown> = {}) {
  let nowMs = Date.UTC(2026, 0, 1);
  const harness = await startHarness({}, { clock: () => nowMs });
  const connect = (over: Record<string, unknown> = {}) =>
    harness.connect({ settings: { ...settings, ...over } });
  return {
    harness,
    connect,
    connected: await connect(),
    lag: () => harness.lag(minute),
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

describe('while reads and lists are behind', () => {
  test('a secret that was removed is written again at once, although it is still shown', async () => {
    const { harness, connected, lag, pass } = await startLagging();
    const { remote } = await connected.put(putRequest('ONE', 'x'), signal());
    pass(2 * minute);
    lag();
    await connected.remove({ ...putRequest('ONE', 'x'), remote }, signal());
    pass(1_000);
    await connected.put(putRequest('ONE', 'y'), signal());
    expect(harness.held('ONE')?.value).toBe('y');
    await connected.close();
    await harness.stop();
  });

  test('a secret that somebody else has written since the removal stays foreign', async () => {
    const { harness, connected, pass } = await startLagging();
    const { remote } = await connected.put(putRequest('ONE', 'x'), signal());
    await connected.remove({ ...putRequest('ONE', 'x'), remote }, signal());
    pass(1_000);
    await harness.plantForeign('ONE', 'theirs');
    await expect(connected.put(putRequest('ONE', 'y'), signal())).rejects.toMatchObject({ kind: 'conflict' });
    expect(harness.held('ONE')?.value).toBe('theirs');
    await connected.close();
    await harness.stop();
  });

  test('a removed secret makes room in a full repository', async () => {
    const { harness, connected, lag, pass } = await startLagging();
    const { remote } = await connected.put(putRequest('ONE', 'x'), signal());
    for (let n = 2; n <= 100; n += 1) await harness.plantForeign(`S${n}`, 'theirs');
    pass(2 * minute);
    await expect(connected.put(putRequest('NEW', 'x'), signal())).rejects.toMatchObject({ kind: 'full' });
    lag();
    await connected.remove({ ...putRequest('ONE', 'x'), remote }, signal());
    await connected.put(putRequest('NEW', 'y'), signal());
    expect(harness.held('NEW')?.value).toBe('y');
    await connected.close();
    await harness.stop();
  });

  test('who sees a secret of an organization is changed back, although the read shows the wanted access', async () => {
    const organization = {
      secrets_location: 'organization',
      organization_name: 'acme',
      repository_owner: '',
      repository_name: '',
    };
    const { harness, connect, connected, lag, pass } = await startLagging(organization);
    const request = putRequest('ONE', 'x');
    const first = await connected.put(request, signal());
    pass(2 * minute);
    lag();
    const everyone = await connect({ organization_visibility: 'all' });
    const unchanged = { ...request, valueChanged: false };
    const second = await everyone.put({ ...unchanged, remote: first.remote }, signal());
    const access = () => harness.held('ONE', 'organization acme')?.tags.visibility;
    expect(access()).toBe('all');
    await connected.put({ ...unchanged, remote: second.remote }, signal());
    expect(access()).toBe('private');
    await connected.close();
    await everyone.close();
    await harness.stop();
  });
});
