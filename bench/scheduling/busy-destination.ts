import { destinationTypes } from '@secrets/destinations';
import type { DestinationFields } from '../limits/stores/store-client.ts';
import type { Api } from '../system/api-client.ts';

export const type = 'cloudA-sm';
const description = destinationTypes[type]!;

/** Calls per second that the product makes for one account. */
export const callsPerSecond = description.budget.perSecond;

/** The product and its store, whether the services are separate or in one process. */
export interface System {
  api: Api;
  sandbox: Api;
  /** The fields of a destination of its store. */
  fields: DestinationFields;
}

/** A destination at secret-key granularity. Its external names match `busy/*`. */
export interface BusyDestination {
  name: string;
  /** `sys/sync/destinations/cloudA-sm/<name>` */
  path: string;
}

export const busyNames = 'busy/*';
export const busyMount = 'bench-busy';
/** The maximum number of keys of an association (docs/conventions/sync.md#granularity). */
const keysPerSecret = 1_000;

let created = 0;

/** Creates the mount of the secrets of all busy destinations. */
export async function createBusyMount(api: Api): Promise<void> {
  await api('POST', `sys/mounts/${busyMount}`, { type: 'kv', options: { version: '2' } });
}

/** Creates a destination without associations, of the account of the quiet one or of an account of its own. */
export async function createBusy(
  { api, fields }: System,
  { ofSameAccount }: { ofSameAccount: boolean },
): Promise<BusyDestination> {
  created += 1;
  const name = `busy-${created}`;
  const path = `sys/sync/destinations/${type}/${name}`;
  await api('POST', path, {
    ...fields,
    ...(ofSameAccount ? {} : { region: ownRegion(created) }), // the region is part of the account
    granularity: 'secret-key',
    secret_name_template: `busy/${created}/{{ .SecretPath }}/{{ .SecretKey }}`,
  });
  return { name, path };
}

/** A region that no other destination uses. */
const ownRegion = (at: number): string => `xx-${String.fromCharCode(97 + Math.floor(at / 100))}-${at % 100}`;

/** Queues entries: writes secrets with this many keys in total and associates them. */
export async function queueByApi(api: Api, { name, path }: BusyDestination, entries: number): Promise<void> {
  for (let queued = 0; queued < entries; queued += keysPerSecret) {
    const keys = Math.min(keysPerSecret, entries - queued);
    const secret = `${name}/${queued}`;
    const data = Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, `value ${at}`]));
    await api('POST', `${busyMount}/data/${secret}`, { data });
    const association = { mount: busyMount, secret_name: secret };
    await api('POST', `${path}/associations/set?wait=0`, association);
  }
}
