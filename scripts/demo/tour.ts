import { randomBytes } from 'node:crypto';
import { eventuallyEqual, quietFor } from '../../tests/harness/eventually.ts';
import { client, expectStatus } from '../../tests/harness/http.ts';
import { sandboxControl } from '../../tests/harness/sandbox-control.ts';
import { everyType } from './every-type.ts';
import type { DemoService } from './service.ts';
import { expectEqual, numberedSteps } from './steps.ts';
import type { Tour } from './tour-setting.ts';
import { workloadLogsIn } from './workload.ts';

/** Runs the main use case from the first mount to its deletion. Throws at the first result that is not as expected. */
export async function tour(service: DemoService): Promise<void> {
  const tag = randomBytes(3).toString('hex');
  const tour: Tour = {
    service,
    root: client(service.url, service.rootToken),
    sandbox: sandboxControl(service.sandboxUrl),
    step: numberedSteps(() => storeLines(tour)),
    mount: `demo-${tag}`,
    destination: `sys/sync/destinations/cloudA-sm/shop-${tag}`,
    prefix: '',
  };
  await storeAndSync(tour);
  await disableSync(tour);
  await workloadLogsIn(tour);
  await crash(tour);
  await list(tour);
  await unsync(tour);
  await everyType(service);
}

async function storeAndSync(tour: Tour): Promise<void> {
  const { root, step, mount, destination } = tour;
  await step(`Mount a KV store at ${mount}/`, async () => {
    expectStatus(await root('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
    const { body } = expectStatus(await root('GET', `sys/mounts/${mount}`), 200);
    tour.prefix = `secrets/${body.data.accessor}`;
  });
  await step('Write the secret "shop"', async () => {
    expectEqual(await write(tour, { password: 'first' }), 1, 'version');
  });
  await step(`Create the destination ${destination}`, async () => {
    const fields = { ...(await tour.sandbox.credentials()), region: 'eu-west-1' };
    const { body } = expectStatus(await root('POST', destination, fields), 200);
    expectEqual(body.data.connection_details.secret_access_key, '*****', 'the secret key in the response');
  });
  await step('Associate the secret with the destination', async () => {
    expectEqual(await associate(tour, 'set'), 'SYNCED', 'status');
    expectEqual(await stored(tour), { password: 'first' }, 'external value');
    return 'SYNCED';
  });
  await step('Write a new version; the service syncs it by itself', async () => {
    await write(tour, { password: 'second', user: 'shop' });
    await eventuallyEqual(() => stored(tour), { password: 'second', user: 'shop' }, 15_000);
  });
}

async function disableSync(tour: Tour): Promise<void> {
  const { root, step } = tour;
  await step('Disable syncing and write again; the store keeps the old value', async () => {
    expectStatus(await root('PATCH', 'sys/sync/config', { disabled: 'true' }), 200);
    await write(tour, { password: 'third' });
    await eventuallyEqual(() => statusOf(tour), 'PENDING', 2_000);
    await quietFor(500);
    expectEqual(await stored(tour), { password: 'second', user: 'shop' }, 'external value');
    expectEqual(await associate(tour, 'set'), 'PENDING', 'status');
    return 'PENDING';
  });
  await step('Enable syncing; the pending change is synced', async () => {
    expectStatus(await root('PATCH', 'sys/sync/config', { disabled: false }), 200);
    await eventuallyEqual(() => stored(tour), { password: 'third' }, 5_000);
    await eventuallyEqual(() => statusOf(tour), 'SYNCED', 5_000);
    return 'SYNCED';
  });
}

async function crash(tour: Tour): Promise<void> {
  const { crash } = tour.service;
  if (crash === undefined) return;
  await tour.step(
    'Write, kill the service with SIGKILL and start it again; the write is not lost',
    async () => {
      await write(tour, { password: 'fourth' });
      await crash();
      await eventuallyEqual(() => stored(tour), { password: 'fourth' }, 15_000);
      await eventuallyEqual(() => statusOf(tour), 'SYNCED', 15_000);
      return 'SYNCED';
    },
  );
}

async function list({ root, step, mount, destination }: Tour): Promise<void> {
  await step('List destinations, associations and secrets', async () => {
    const destinations = expectStatus(await root('LIST', 'sys/sync/destinations'), 200).body.data.key_info;
    const name = destination.split('/').at(-1);
    expectEqual(destinations['cloudA-sm/'].includes(name), true, 'the destination is listed');
    const associations = expectStatus(await root('LIST', 'sys/sync/associations'), 200).body.data.keys;
    expectEqual(associations.includes(`${mount}/shop`), true, 'the association is listed');
    const secrets = expectStatus(await root('LIST', `${mount}/metadata`), 200).body.data.keys;
    expectEqual(secrets, ['app/', 'shop'], 'secrets');
    return secrets.join(', ');
  });
}

async function unsync(tour: Tour): Promise<void> {
  const { root, step, mount, destination } = tour;
  await step('Remove the associations; the store deletes both secrets', async () => {
    expectEqual(await associate(tour, 'remove'), 'UNSYNCED', 'status');
    expectEqual(await associate(tour, 'remove', 'app/db'), 'UNSYNCED', 'status');
    expectEqual(await stored(tour), undefined, 'external value');
    expectEqual(await associate(tour, 'remove'), 'UNSYNCED', 'status of a repeated remove');
    return 'UNSYNCED';
  });
  await step('Delete the destination and the mount', async () => {
    expectStatus(await root('DELETE', destination), 204);
    expectStatus(await root('DELETE', `sys/mounts/${mount}`), 204);
    expectStatus(await root('GET', destination), 404);
  });
}

/** Writes the secret `shop` and returns its version. */
async function write({ root, mount }: Tour, data: object): Promise<number> {
  return expectStatus(await root('POST', `${mount}/data/shop`, { data }), 200).body.data.version;
}

/** Sets or removes an association and returns its status. */
async function associate(tour: Tour, verb: 'set' | 'remove', secretName = 'shop'): Promise<string> {
  const { root, mount, destination } = tour;
  const request = { mount, secret_name: secretName };
  const { body } = expectStatus(await root('POST', `${destination}/associations/${verb}`, request), 200);
  const [association] = Object.values<{ sync_status: string }>(body.data.associated_secrets);
  return association!.sync_status;
}

async function statusOf({ root, mount, destination }: Tour): Promise<string> {
  const { body } = expectStatus(await root('GET', `sys/sync/associations/${mount}/shop`), 200);
  return body.data.associated_destinations[destination.replace('sys/sync/destinations/', '')].sync_status;
}

/** The data of the secret `shop` in the external store. */
async function stored({ sandbox, prefix }: Tour): Promise<unknown> {
  const secret = (await sandbox.secrets())[`${prefix}/shop`];
  return secret === undefined ? undefined : JSON.parse(secret.value);
}

async function storeLines({ sandbox, prefix }: Tour): Promise<string[]> {
  const secrets = Object.entries(await sandbox.secrets()).filter(([name]) => name.startsWith(`${prefix}/`));
  if (secrets.length === 0) return ['empty'];
  return secrets.map(([name, { value }]) => `${name} = ${value}`).sort();
}
