import { randomBytes } from 'node:crypto';
import { sandboxTypes } from '../../tests/harness/destination-types.ts';
import { eventually, eventuallyEqual, quietFor } from '../../tests/harness/eventually.ts';
import { type Api, client, expectStatus } from '../../tests/harness/http.ts';
import { type SandboxControl, sandboxControl } from '../../tests/harness/sandbox-control.ts';
import type { DemoService } from './service.ts';
import { expectEqual, numberedSteps, type Step } from './steps.ts';

/** One secret in a destination of every type. */
interface Setting {
  root: Api;
  sandbox: SandboxControl;
  step: Step;
  mount: string;
  /** The part of the mount's accessor that is in every external name. */
  mark: string;
  /** Paths of the destinations, by type. */
  destinations: Map<string, string>;
}

const storeTimeoutMs = 30_000;

/** Keeps one secret in a store of every type, key by key, and prints what each of them holds after each step. */
export async function everyType({ url, rootToken, sandboxUrl }: DemoService): Promise<void> {
  console.log('\nThe same secret in every type of destination, one external secret per key');
  const tag = randomBytes(3).toString('hex');
  const setting: Setting = {
    root: client(url, rootToken),
    sandbox: sandboxControl(sandboxUrl),
    step: numberedSteps(() => storeLines(setting), ''),
    mount: `all-${tag}`,
    mark: tag,
    destinations: new Map(sandboxTypes.map(({ type }) => [type, `sys/sync/destinations/${type}/all-${tag}`])),
  };
  await setAndChange(setting);
  await pauseAndResume(setting);
  await restore(setting);
  await removeAndPurge(setting);
}

async function setAndChange(setting: Setting): Promise<void> {
  const { root, sandbox, step, mount, destinations } = setting;
  await step(`Mount ${mount}/, write "app", create a destination of every type`, async () => {
    expectStatus(await root('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
    const { accessor } = expectStatus(await root('GET', `sys/mounts/${mount}`), 200).body.data;
    setting.mark = accessor.split('_').at(-1);
    await write(setting, { user: 'app', password: 'first' });
    for (const { type, fields } of sandboxTypes) {
      const body = { ...fields(await sandbox.store(type)), granularity: 'secret-key' };
      expectStatus(await root('POST', destinations.get(type)!, body), 200);
    }
  });
  await step('Associate the secret with all of them', async () => {
    for (const path of destinations.values()) expectStatus(await associate(setting, path, 'set'), 200);
    await untilEachHolds(setting, ['app', 'first']);
  });
  await step('Change the password', async () => {
    await write(setting, { user: 'app', password: 'second' });
    await untilEachHolds(setting, ['app', 'second']);
  });
  await step('Remove the key "user"', async () => {
    await write(setting, { password: 'second' });
    await untilEachHolds(setting, ['second']);
  });
}

async function pauseAndResume(setting: Setting): Promise<void> {
  const { root, step } = setting;
  await step('Disable syncing and change the password; every store keeps the old one', async () => {
    expectStatus(await root('PATCH', 'sys/sync/config', { disabled: true }), 200);
    await write(setting, { password: 'third' });
    await quietFor(1_500);
    await untilEachHolds(setting, ['second']);
  });
  await step('Enable syncing', async () => {
    expectStatus(await root('PATCH', 'sys/sync/config', { disabled: false }), 200);
    await untilEachHolds(setting, ['third']);
  });
}

/** A look would report this, too, but only minutes after the last push, when every store shows that. */
async function restore(setting: Setting): Promise<void> {
  const { root, sandbox, step, destinations } = setting;
  await step('Delete the password in every store by hand', async () => {
    for (const type of destinations.keys())
      for (const name of Object.keys(await held(setting, type)))
        await sandbox.changeByHand(type, name, 'delete');
    await untilEachHolds(setting, []);
  });
  await step('Compare everything with the stores, which restores it', async () => {
    for (const path of destinations.values())
      expectStatus(await root('POST', `${path}/retry`, { all: true }), 200);
    await untilEachHolds(setting, ['third']);
  });
}

async function removeAndPurge(setting: Setting): Promise<void> {
  const { root, step, mount, destinations } = setting;
  const [first] = destinations;
  await step(`Remove the association with ${first![0]}`, async () => {
    expectStatus(await associate(setting, first![1], 'remove'), 200);
    await untilHolds(setting, first![0], []);
  });
  await step('Delete every destination with purge=true, and the mount', async () => {
    for (const path of destinations.values()) expectStatus(await root('DELETE', `${path}?purge=true`), 204);
    await untilEachHolds(setting, []);
    for (const path of destinations.values())
      await eventually(
        () => root('GET', path),
        ({ status }) => status === 404,
        storeTimeoutMs,
      );
    expectStatus(await root('DELETE', `sys/mounts/${mount}`), 204);
  });
}

async function write({ root, mount }: Setting, data: object): Promise<void> {
  expectStatus(await root('POST', `${mount}/data/app`, { data }), 200);
}

const associate = ({ root, mount }: Setting, path: string, verb: 'set' | 'remove') =>
  root('POST', `${path}/associations/${verb}`, { mount, secret_name: 'app' });

async function untilEachHolds(setting: Setting, values: string[]): Promise<void> {
  for (const type of setting.destinations.keys()) await untilHolds(setting, type, values);
}

async function untilHolds(setting: Setting, type: string, values: string[]): Promise<void> {
  const look = async () => Object.values(await held(setting, type)).sort();
  await eventuallyEqual(look, [...values].sort(), storeTimeoutMs).catch((error: unknown) => {
    throw new Error(`${type}: ${(error as Error).message}`);
  });
  expectEqual(await look(), [...values].sort(), `the values in ${type}`);
}

/** Returns the values that a store holds of this run, by name. */
async function held({ sandbox, mark }: Setting, type: string): Promise<Record<string, string>> {
  const all = Object.entries(await sandbox.contents(type));
  return Object.fromEntries(all.filter(([name]) => name.toLowerCase().includes(mark)));
}

async function storeLines(setting: Setting): Promise<string[]> {
  const lines: string[] = [];
  for (const type of setting.destinations.keys()) {
    const secrets = Object.entries(await held(setting, type)).map(([name, value]) => `${name} = ${value}`);
    lines.push(`${type}: ${secrets.sort().join(', ') || 'empty'}`);
  }
  return lines;
}
