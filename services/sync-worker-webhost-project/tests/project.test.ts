import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ScopeMemory } from '@secrets/sync-worker';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { startHarness, type WebhostHarness } from './sandbox-harness.ts';

const signal = () => AbortSignal.timeout(60_000);
const projects = () => [
  { id: 'prj_aaaaaaaaaaaaaaaaaaaaaaaa', name: 'shop' },
  { id: 'prj_bbbbbbbbbbbbbbbbbbbbbbbb', name: 'blog' },
];

let harness: WebhostHarness;
beforeAll(async () => {
  harness = await startHarness({ projects: projects() });
});
afterAll(() => harness.stop());

const connect = (project_id: string, remembered: string | null = null) => {
  const scope = new ScopeMemory(remembered, async (id) => id);
  return harness.connectWith({ settings: { project_id } }, { scope });
};
const projectOf = (name: string) =>
  harness.held(name).map(({ region, value }) => `${region.slice(4, 5)}: ${value}`);

test('a name is resolved at the first contact: the project is followed when it is renamed, also while another one has its name', async () => {
  const [shop, blog] = harness.sandbox.webhost.projects as unknown as { name: string }[];
  const connected = await connect('shop');
  const request = putRequest(harness.freshName(), 'one');
  const { remote } = await connected.put(request, signal());
  shop!.name = 'renamed';
  const renamed = await connect('shop', projects()[0]!.id);
  await renamed.put({ ...request, ...newValue(request, 'two'), remote }, signal());
  blog!.name = 'shop';
  const taken = await connect('shop', projects()[0]!.id);
  await expect(
    taken.put({ ...request, ...newValue(request, 'three'), remote }, signal()),
  ).rejects.toMatchObject({
    kind: 'rejected',
    message: expect.stringMatching(/^the project shop is now another project \(ID prj_b+, was prj_a+\)/),
  });
  await connected.put({ ...request, ...newValue(request, 'three'), remote }, signal());
  expect(projectOf(request.externalName)).toEqual(['a: three']);
  await taken.remove(
    { entryId: 'e', externalName: request.externalName, remote, putStartedAt: null },
    signal(),
  );
  expect(projectOf(request.externalName)).toEqual([]);
});

test('an ID is not looked up, and a name that no project has is refused', async () => {
  harness.calls();
  const connected = await connect(projects()[0]!.id);
  await connected.put(putRequest(harness.freshName(), 'one'), signal());
  expect(harness.calls()).toEqual(['filterProjectEnvs', 'createProjectEnv']);
  await expect(
    (await connect('none')).put(putRequest(harness.freshName(), 'x'), signal()),
  ).rejects.toMatchObject({
    kind: 'rejected',
    message: expect.stringContaining('the project none does not exist'),
  });
});
