import type { Db } from '@secrets/db';
import {
  type Installation,
  type OwnInstallation,
  readInstallation,
  recordInstallation,
  reportInstallation,
} from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import type { SyncMetrics } from '../metrics/sync-metrics.ts';
import { whyHeld } from './why-held.ts';

/** Stores the installation at its first start, and otherwise compares it with the stored one. */
export async function keepInstallation(db: Db, own: OwnInstallation): Promise<Installation> {
  await recordInstallation(db, own);
  await reportInstallation(db, own.name);
  return readInstallation(db);
}

/** Compares the installation with the stored one, and reports once when syncing is held, and when it continues. */
export class InstallationWatch {
  readonly #db: Db;
  readonly #own: OwnInstallation;
  readonly #reports: { log: Logger; observed: Pick<SyncMetrics, 'held'> };
  #heldBecause: Installation['heldBecause'] = null;

  constructor(db: Db, own: OwnInstallation, reports: { log: Logger; observed: Pick<SyncMetrics, 'held'> }) {
    this.#db = db;
    this.#own = own;
    this.#reports = reports;
  }

  /** To be repeated every second. */
  async look(): Promise<void> {
    const installation = await keepInstallation(this.#db, this.#own);
    const { heldBecause } = installation;
    const { log, observed } = this.#reports;
    observed.held.set(heldBecause === null ? 0 : 1);
    if (heldBecause === this.#heldBecause) return;
    this.#heldBecause = heldBecause;
    if (heldBecause === null) log.info('syncing is no longer held');
    else log.error({ heldBecause }, whyHeld(installation));
  }
}
