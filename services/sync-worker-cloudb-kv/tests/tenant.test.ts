import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Fault } from '@secrets/domain';
import { type ConnectedDestination, ScopeMemory } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { type CloudBHarness, startHarness } from './sandbox-harness.ts';

const tenants = {
  first: '11111111-1111-4111-8111-111111111111',
  other: '22222222-2222-4222-8222-222222222222',
};

/** A vault, and one of the same name in another tenant: names are unique, but free again once a vault is purged. */
let vault: CloudBHarness;
let namesake: CloudBHarness;
const connections: ConnectedDestination[] = [];

beforeAll(async () => {
  vault = await startHarness({}, { tenantId: tenants.first });
  namesake = await startHarness({}, { tenantId: tenants.other });
});
afterAll(async () => {
  await Promise.all(connections.map((one) => one.close()));
  await Promise.all([vault, namesake].map((one) => one?.stop()));
});

async function connect(to: CloudBHarness, scope: ScopeMemory): Promise<ConnectedDestination> {
  const connected = await to.connectAs(scope);
  connections.push(connected);
  return connected;
}
const remembering = (id: string | null) => new ScopeMemory(id, async (seen) => seen);
const signal = () => AbortSignal.timeout(60_000);

describe('the first contact', () => {
  test('stores the tenant of the vault, before a token is requested and anything is written', async () => {
    const stored: { id: string; after: string[] }[] = [];
    const scope = new ScopeMemory(null, async (id) => {
      stored.push({ id, after: vault.calls() });
      return id;
    });
    const connected = await connect(vault, scope);
    const request = putRequest(vault.freshName(), 'one');
    vault.calls();
    const { remote } = await connected.put(request, signal());
    await connected.put({ ...request, ...newValue(request, 'two'), remote }, signal());
    expect(stored).toEqual([{ id: tenants.first, after: ['GetSecret'] }]);
    expect(scope.id).toBe(tenants.first);
    expect(vault.held(request.externalName)?.value).toBe('two');
  });

  test('writes nothing if the tenant cannot be stored, or another one has been meanwhile', async () => {
    const unavailable = async () => {
      throw new Fault('unavailable', 'no database');
    };
    for (const [record, kind] of [
      [unavailable, 'unavailable'],
      [async () => tenants.other, 'rejected'],
    ] as const) {
      const connected = await connect(vault, new ScopeMemory(null, record));
      const request = putRequest(vault.freshName(), 'one');
      vault.calls();
      await expect(connected.put(request, signal())).rejects.toMatchObject({ kind });
      expect([vault.calls(), vault.held(request.externalName)]).toEqual([['GetSecret'], undefined]);
    }
  });
});

describe('in a vault of another tenant than the one of the first contact', () => {
  const request = putRequest('secrets-kv-1-both', 'one');
  const next = { ...request, ...newValue(request, 'two') };
  const known = { entryId: request.entryId, externalName: request.externalName, putStartedAt: null };
  let remote: Awaited<ReturnType<ConnectedDestination['put']>>['remote'];
  let connected: ConnectedDestination;

  /** Both vaults have the secret with the tags of the destination, so that only the tenant is wrong. */
  beforeEach(async () => {
    ({ remote } = await (await connect(vault, remembering(null))).put(request, signal()));
    await (await connect(namesake, remembering(null))).put(request, signal());
    connected = await connect(namesake, remembering(tenants.first));
    namesake.calls();
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a new secret', () => connected.put(putRequest(namesake.freshName(), 'x'), signal())],
    ['a new value', () => connected.put({ ...next, remote }, signal())],
    [
      'a comparison',
      () => connected.put({ ...request, remote, valueChanged: false, verify: true }, signal()),
    ],
    ['a removal', () => connected.remove({ ...known, remote }, signal())],
    ['a removal of what is not remembered', () => connected.remove({ ...known, remote: null }, signal())],
    ['a release', () => connected.release!({ ...known, remote }, signal())],
    ['a list', () => connected.list(null, signal())],
  ])('%s is refused with both IDs, and no token is sent there', async (_, operation) => {
    const before = namesake.sandbox.cloudB.secrets();
    await expect(operation()).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining(
        `the tenant of the vault main.vault.azure.net is now another tenant (ID ${tenants.other}, was ${tenants.first})`,
      ),
    });
    expect(namesake.calls()).toHaveLength(1);
    expect(namesake.sandbox.cloudB.secrets()).toEqual(before);
  });

  test('once that tenant is confirmed, it gets the secret that the earlier one has, and removals apply to it', async () => {
    const name = namesake.freshName();
    const first = await (await connect(vault, remembering(null))).put(putRequest(name, 'one'), signal());
    const confirmed = await connect(namesake, remembering(tenants.other));
    const moved = { ...putRequest(name, 'one'), remote: first.remote, valueChanged: false, verify: true };
    const { remote: there } = await confirmed.put(moved, signal());
    expect(namesake.held(name)?.value).toBe('one');
    await confirmed.remove({ ...known, externalName: name, remote: there }, signal());
    expect([vault.held(name)?.value, namesake.held(name)]).toEqual(['one', undefined]);
  });
});
