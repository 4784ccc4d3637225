import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ConnectedDestination, EntryRequest } from '@secrets/sync-worker';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const minuteMs = 60_000;

/** The vault's clock, which is stopped: what happens without a call of `passes` is in one second. */
let nowMs = 0;
const driver = useDriver({}, { clock: () => nowMs });
const passes = (ms: number) => {
  nowMs += ms;
};

let store: ConnectedDestination;
beforeEach(async () => {
  nowMs = Date.now() - 10 * minuteMs;
  store = await driver.connect();
});
afterEach(() => store.close());

const signal = () => AbortSignal.timeout(60_000);

/** Looks at an external secret that somebody else may have changed, and returns the entry as it is remembered then. */
async function looked(request: EntryRequest): Promise<EntryRequest> {
  const found = await store.inspect({ ...request, isSameValue: () => false }, signal());
  expect(found).toMatchObject({ isUntouched: true });
  return 'remote' in found ? { ...request, remote: found.remote! } : request;
}

async function pushed(): Promise<EntryRequest> {
  const { name, remote } = await driver.putNew();
  return { ...putRequest(name, ''), remote };
}

/** Returns which of the requests the list shows as unchanged, and the calls that were made. */
async function find(...requests: EntryRequest[]) {
  const before = driver.harness.callCount();
  const { entryIds, pages } = await store.findUntouched!(requests, signal());
  expect(driver.harness.callCount() - before).toBe(pages);
  return { found: requests.map(({ entryId }) => entryIds.includes(entryId)), pages };
}

const stranger = () => driver.harness.stranger;
const versionOf = async (name: string) => (await stranger().getSecret(name)).properties.version!;

test('what a look has seen minutes after the last change is found in the list, several in one call', async () => {
  const entries = [await looked(await pushed()), await looked(await pushed())];
  expect(await find(...entries)).toEqual({ found: [true, true], pages: 1 });
});

test('no list is read for what no look has seen since the push, or for a single secret', async () => {
  expect(await find(await pushed(), await pushed())).toEqual({ found: [false, false], pages: 0 });
  expect(await find(await looked(await pushed()))).toEqual({ found: [false], pages: 0 });
});

test('a change in the second of the push, after a look in that second, is not missed', async () => {
  nowMs = Date.now();
  const entries = [await looked(await pushed()), await looked(await pushed())];
  for (const { externalName } of entries) await stranger().setSecret(externalName, 'theirs');
  expect(await find(...entries)).toEqual({ found: [false, false], pages: 0 });
});

test('a look remembers the time of the push only when reads show every change of that second', async () => {
  nowMs = Date.now() - 4 * minuteMs;
  const entries = [await looked(await pushed()), await looked(await pushed())];
  expect(entries.map(({ remote }) => remote)).toEqual(
    Array(2).fill(expect.objectContaining({ updated: null })),
  );
});

const changes: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  edited: (name) => stranger().setSecret(name, 'theirs'),
  'with other tags': async (name) =>
    stranger().updateSecretProperties(name, await versionOf(name), { tags: {} }),
  disabled: async (name) =>
    stranger().updateSecretProperties(name, await versionOf(name), { enabled: false }),
  deleted: (name) => stranger().beginDeleteSecret(name),
};

test.each(Object.entries(changes))('a secret that is %s is not found in the list', async (_, change) => {
  const [kept, changed] = [await looked(await pushed()), await looked(await pushed())];
  passes(1_000);
  await change(changed.externalName);
  expect(await find(kept, changed)).toEqual({ found: [true, false], pages: 1 });
});

test('a change that left the version is looked at once, and remembered then', async () => {
  const [kept, changed] = [await looked(await pushed()), await looked(await pushed())];
  passes(1_000);
  await changes['with other tags']!(changed.externalName);
  expect(await find(kept, await looked(changed))).toEqual({ found: [true, true], pages: 1 });
});

test('a page is read for every two secrets at most, because the vault may have thousands of others', async () => {
  const entries = [await looked(await pushed()), await looked(await pushed())];
  for (const { externalName } of entries) await stranger().beginDeleteSecret(externalName);
  for (let number = 0; number < 60; number += 1) await stranger().setSecret(`other-${number}`, 'theirs');
  expect(await find(...entries)).toEqual({ found: [false, false], pages: 1 });
});

test('credentials that may not list find nothing', async () => {
  const entries = [await looked(await pushed()), await looked(await pushed())];
  driver.failWith('GetSecrets', 403, 'ForbiddenByRbac');
  expect(await find(...entries)).toEqual({ found: [false, false], pages: 1 });
});
