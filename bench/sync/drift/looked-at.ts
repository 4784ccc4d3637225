import { eventually } from '@secrets/testing';
import { templateFor } from '../../../tests/harness/destination-types.ts';
import { fieldsOf } from '../../limits/stores/store-client.ts';
import { type SyncSetup, untilTrue } from '../sync-setup.ts';

/** A destination of a type whose external secrets are the keys of one secret. */
export interface LookedAt {
  type: string;
  path: string;
}

const mount = 'bench-drift';
const lookedAtPrefix = 'looked';

export async function createMount({ product }: SyncSetup): Promise<void> {
  await product.api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
}

/** Creates a destination of each type, pushes so many keys to it, and lets as much time pass as a store may need to show them. */
export async function pushKeys(
  setup: SyncSetup,
  types: readonly string[],
  count: number,
): Promise<LookedAt[]> {
  const all: LookedAt[] = [];
  for (const type of types) all.push(await setKeys(setup, type, count));
  for (const type of types) await untilTrue(setup, `every entry of ${type} is synced`, achieved(type, count));
  await timePasses(setup);
  return all;
}

async function setKeys(setup: SyncSetup, type: string, count: number): Promise<LookedAt> {
  const { api } = setup.product;
  const path = `sys/sync/destinations/${type}/${lookedAtPrefix}`;
  await api('POST', path, {
    ...fieldsOf(setup.addresses.get(type)!),
    granularity: 'secret-key',
    secret_name_template: templateFor(type, '{{ .SecretKey }}'),
  });
  const names = Array.from({ length: count }, (_, at) => `k${String(at).padStart(6, '0')}`);
  const secret = `${lookedAtPrefix}-${type}`;
  await api('POST', `${mount}/data/${secret}`, {
    data: Object.fromEntries(names.map((name) => [name, 'ours'])),
  });
  await api('POST', `${path}/associations/set?wait=0`, { mount, secret_name: secret });
  return { type, path };
}

const achieved = (type: string, count: number) =>
  `select count(*) = ${count} from sync.entries where destination_type = '${type}' and status = 'SYNCED'`;

/** Lets more time pass since the pushes than a store may need to show them. */
async function timePasses({ database }: SyncSetup): Promise<void> {
  await database.query(
    `update sync.entries set synced_at = synced_at - interval '1 hour', verified_at = verified_at - interval '1 hour'
      where synced_at > now() - interval '30 minutes'`,
  );
}

/** Looks at everything in these destinations at the same time, and returns when that has ended. */
export async function lookAtAll(setup: SyncSetup, all: readonly LookedAt[]): Promise<void> {
  for (const { path } of all) await setup.product.api('POST', `${path}/inspect`);
  for (const { type } of all) await untilLookedAt(setup, type);
}

/** Waits until nothing of the type is to be looked at on request. */
export const untilLookedAt = ({ database }: SyncSetup, type: string): Promise<void> =>
  eventually(
    async () => {
      const { rows } = await database.query(
        'select from sync.inspections where destination_type = $1 and requested_at is not null',
        [type],
      );
      if (rows.length > 0) throw new Error(`timed out looking at the destination of ${type}`);
    },
    { timeoutMs: 600_000, intervalMs: 20 },
  );
