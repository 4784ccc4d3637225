import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '../src/sandbox.ts';
import { virtualMachine } from '../src/testing.ts';

let folder: string;
let running: Sandbox[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  running = [];
});
afterEach(async () => {
  for (const sandbox of running) await sandbox.stop();
  rmSync(folder, { recursive: true });
});

async function start() {
  const sandbox = await startSandbox({ dataFile: join(folder, 'data') });
  running.push(sandbox);
  return sandbox;
}

async function restart(sandbox: Sandbox) {
  await sandbox.stop();
  running = [];
  return start();
}

const stateOf = ({ resourceManager, directory }: Sandbox) => ({
  resources: resourceManager.resources(),
  assignments: resourceManager.roleAssignments(),
  passwords: directory.passwords.list(),
  settings: directory.settings,
  keys: directory.publishedKeys(),
});

function change({ resourceManager, directory }: Sandbox): void {
  const { id } = resourceManager.addResource(
    virtualMachine(resourceManager.defaultGroup, 'added', { principal: true }),
  );
  resourceManager.removeResource(resourceManager.resources()[0]!.id);
  resourceManager.removeRoleAssignment(resourceManager.roleAssignments()[0]!.id);
  resourceManager.addRoleAssignment({ principalId: 'someone', scope: '/subscriptions/x' });
  directory.configure({ instance: id, passwordDelayMs: 5 });
  directory.passwords.add({ displayName: 'added' }, 0);
  directory.passwords.remove(directory.passwords.list()[0]!.keyId, 0);
}

test('resources, role assignments, passwords and settings survive two restarts', async () => {
  const first = await start();
  change(first);
  const state = stateOf(first);
  expect(state.passwords).toMatchObject([{ displayName: 'added' }]);
  const second = await restart(first);
  expect(stateOf(second)).toEqual(state);
  expect(stateOf(await restart(second))).toEqual(state);
});

test('after a reset and a restart, there are the default ones', async () => {
  const first = await start();
  const state = stateOf(first);
  change(first);
  first.reset();
  expect(stateOf(first)).toEqual(state);
  expect(stateOf(await restart(first))).toEqual(state);
});
