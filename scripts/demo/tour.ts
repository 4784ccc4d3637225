import { randomBytes } from 'node:crypto';
import { client, send } from './http.ts';
import type { DemoService } from './service.ts';
import { eventually, expectEqual, step } from './steps.ts';
import { type WorkloadSetting, workloadLogsIn } from './workload.ts';

/** What one run of the tour works with. Its names are new, so that the tour can run again on the same service. */
interface Tour extends WorkloadSetting {
  /** Accessor of the mount, once the mount exists. */
  accessor: string;
}

/** The main job from the first mount to the last unsync. Throws at the first result that differs from the expected one. */
export async function tour(service: DemoService): Promise<void> {
  const tag = randomBytes(3).toString('hex');
  const root = client(service.url, service.rootToken);
  const tour: Tour = { service, root, mount: `demo-${tag}`, destination: `shop-${tag}`, accessor: '' };
  await storeAndSync(tour);
  await follow(tour);
  await switchOff(tour);
  await workloadLogsIn(tour);
  await crashBetween(tour);
  await lists(tour);
  await unsync(tour);
}

async function storeAndSync(tour: Tour): Promise<void> {
  const { root, mount, destination } = tour;
  await step(`mount a KV store at ${mount}/`, async () => {
    expectEqual(
      (await root('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } })).status,
      204,
      'mount',
    );
    tour.accessor = (await root('GET', `sys/mounts/${mount}`)).body.data.accessor;
    return tour.accessor;
  });
  await step('write a secret', async () => {
    expectEqual((await write(tour, { password: 'first' })).body.data.version, 1, 'version');
  });
  await step(`create the destination cloudA-sm/${destination}`, async () => {
    const keys = await accessKeys(tour);
    const made = await root('POST', `sys/sync/destinations/cloudA-sm/${destination}`, {
      ...keys,
      region: 'eu-west-1',
    });
    expectEqual(made.status, 200, `destination (${JSON.stringify(made.body)})`);
    expectEqual(made.body.data.connection_details.secret_access_key, '*****', 'the secret key as shown');
  });
  await step('associate the secret with it', async () => {
    const status = await associate(tour, 'set');
    expectEqual(status, 'SYNCED', 'status in the answer');
    return status;
  });
  await step(`the external store holds it as ${externalName(tour)}`, async () => {
    expectEqual(await held(tour), { password: 'first' }, 'external value');
    return JSON.stringify(await held(tour));
  });
}

async function follow(tour: Tour): Promise<void> {
  await step('write a new version: it arrives outside within a second', async () => {
    await write(tour, { password: 'second', user: 'shop' });
    const ms = await eventually(() => held(tour), { password: 'second', user: 'shop' }, 'external value');
    return `there ${Math.round(ms)} ms after the answer`;
  });
}

async function switchOff(tour: Tour): Promise<void> {
  const { root } = tour;
  await step('switch syncing off and write again: PENDING, unchanged outside', async () => {
    await root('PATCH', 'sys/sync/config', { disabled: 'true' });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await write(tour, { password: 'third' });
    await eventually(() => statusOf(tour), 'PENDING', 'status', 2_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expectEqual(await held(tour), { password: 'second', user: 'shop' }, 'external value');
    expectEqual(await associate(tour, 'set'), 'PENDING', 'status of a set');
  });
  await step('switch it on: SYNCED', async () => {
    expectEqual(
      (await root('PATCH', 'sys/sync/config', { disabled: false })).body.data.disabled,
      false,
      'disabled',
    );
    await eventually(() => held(tour), { password: 'third' }, 'external value', 5_000);
    await eventually(() => statusOf(tour), 'SYNCED', 'status', 5_000);
  });
}

async function crashBetween(tour: Tour): Promise<void> {
  const { crash } = tour.service;
  if (crash === undefined) return;
  await step('kill -9 between write and sync, start again: right outside, SYNCED', async () => {
    await write(tour, { password: 'fourth' });
    await crash();
    await eventually(() => held(tour), { password: 'fourth' }, 'external value', 15_000);
    await eventually(() => statusOf(tour), 'SYNCED', 'status', 15_000);
  });
}

async function lists(tour: Tour): Promise<void> {
  const { root, mount, destination } = tour;
  await step('LIST destinations, associations and metadata', async () => {
    const destinations = await root('LIST', 'sys/sync/destinations');
    expectEqual(destinations.body.data.key_info['cloudA-sm/'].includes(destination), true, 'destinations');
    const associations = await root('LIST', 'sys/sync/associations');
    expectEqual(associations.body.data.keys.includes(`${mount}/shop`), true, 'associations');
    expectEqual((await root('LIST', `${mount}/metadata`)).body.data.keys, ['app/', 'shop'], 'metadata');
  });
}

async function unsync(tour: Tour): Promise<void> {
  const { root, mount, destination } = tour;
  await step('remove the associations: UNSYNCED, gone outside', async () => {
    expectEqual(await associate(tour, 'remove'), 'UNSYNCED', 'status');
    expectEqual(await associate(tour, 'remove', 'app/db'), 'UNSYNCED', 'status');
    expectEqual(await held(tour), undefined, 'external value');
    expectEqual(await associate(tour, 'remove'), 'UNSYNCED', 'status of a second remove');
  });
  await step('delete the destination and the mount', async () => {
    expectEqual(
      (await root('DELETE', `sys/sync/destinations/cloudA-sm/${destination}`)).status,
      204,
      'destination',
    );
    expectEqual((await root('DELETE', `sys/mounts/${mount}`)).status, 204, 'mount');
    expectEqual(
      (await root('GET', `sys/sync/destinations/cloudA-sm/${destination}`)).status,
      404,
      'destination',
    );
  });
}

const write = ({ root, mount }: Tour, data: object) => root('POST', `${mount}/data/shop`, { data });
const externalName = ({ accessor }: Tour) => `secrets/${accessor}/shop`;
const statusField = (line: unknown) => (line as { sync_status: string }).sync_status;

async function associate(tour: Tour, verb: 'set' | 'remove', secretName = 'shop'): Promise<string> {
  const { root, mount, destination } = tour;
  const path = `sys/sync/destinations/cloudA-sm/${destination}/associations/${verb}`;
  const { status, body } = await root('POST', path, { mount, secret_name: secretName });
  if (status !== 200) throw new Error(`${verb} answered ${status} ${JSON.stringify(body)}`);
  return statusField(Object.values(body.data.associated_secrets)[0]);
}

async function statusOf({ root, mount, destination }: Tour): Promise<string> {
  const { body } = await root('GET', `sys/sync/associations/${mount}/shop`);
  return body.data.associated_destinations[`cloudA-sm/${destination}`].sync_status;
}

/** What the external store holds under the secret's default name, as the sandbox shows it. */
async function held(tour: Tour): Promise<unknown> {
  const { body } = await send(`${tour.service.sandboxUrl}/_sandbox/stores`, 'GET');
  const secrets: { name: string; value: string; deleted_at: string | null }[] =
    body.stores['cloudA-sm'].secrets;
  const found = secrets.find(({ name, deleted_at }) => name === externalName(tour) && !deleted_at);
  return found === undefined ? undefined : JSON.parse(found.value);
}

async function accessKeys({ service }: Tour): Promise<{ access_key_id: string; secret_access_key: string }> {
  const { body } = await send(`${service.sandboxUrl}/_sandbox/about`, 'GET');
  const { accessKeyId, secretAccessKey } = body.stores['cloudA-sm'].credentials;
  return { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
}
