import { newValue } from '../../sync/sync-setup.ts';
import type { Api } from '../../system/api-client.ts';
import { busyMount } from '../busy-destination.ts';

const repetitions = 200;
/** Requests that are not measured: what a service does often becomes faster. */
const warmUps = 100;
const secrets = warmUps + repetitions;
const nameOf = (at: number): string => `set/app-${at}`;

/** Milliseconds of each request. */
export interface AssociationTimes {
  set: number[];
  remove: number[];
}

/** Writes the secrets that `associationTimes` associates. */
export async function writeSecrets(api: Api): Promise<void> {
  for (let at = 0; at < secrets; at += 1) await api('POST', `${busyMount}/data/${nameOf(at)}`, newValue());
}

/** Sets and removes associations of a destination, one after the other, without waiting for the store. */
export async function associationTimes(api: Api, path: string): Promise<AssociationTimes> {
  const times: AssociationTimes = { set: [], remove: [] };
  for (let at = 0; at < secrets; at += 1) {
    const association = { mount: busyMount, secret_name: nameOf(at) };
    for (const verb of ['set', 'remove'] as const) {
      const began = performance.now();
      await api('POST', `${path}/associations/${verb}?wait=0`, association);
      if (at >= warmUps) times[verb].push(performance.now() - began);
    }
  }
  return times;
}
