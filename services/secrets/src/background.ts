import { every, type Repeated } from '@secrets/background';
import type { Broker, Relay } from '@secrets/broker';
import { watchClock } from '@secrets/clock';
import type { Db } from '@secrets/db';
import { type Logger, logFailure, type Metrics } from '@secrets/telemetry';
import { startChangesRelay } from './changes/changes-relay.ts';
import type { SecretEventFeed } from './changes/events/secret-event-feed.ts';
import type { SecretsConfig } from './config.ts';
import { purgeDisabledMounts } from './mounts/purge-disabled-mounts.ts';
import { deadlines } from './queries/deadlines.ts';
import { readBackupAge } from './queries/last-backup.ts';
import { recordExpired } from './queries/versions/expiry.ts';

/** Seconds between two reads of the events, and between two signs of life of the streams. */
const eventSeconds = 0.5;
const keepAliveSeconds = 10;

/** Prometheus usually scrapes every 15 s. */
const measureSeconds = 10;

const expiryPageSize = 500;

/** The background work: publishing changes, purging disabled mounts, recording expired versions, watching clock and backups. */
export class Background {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #events: SecretEventFeed;
  #relay: Relay | undefined;
  #repeated: Repeated[] = [];
  #purging: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(db: Db, log: Logger, metrics: Metrics, events: SecretEventFeed) {
    this.#db = db;
    this.#log = log;
    this.#metrics = metrics;
    this.#events = events;
  }

  start(broker: Broker, { sweepSeconds }: SecretsConfig): void {
    this.#relay = startChangesRelay(this.#db, broker, this.#log);
    this.#repeated = [
      every(sweepSeconds, 'purge', this.#log, () => this.#purge()),
      every(sweepSeconds, 'expiry', this.#log, () => this.#recordExpired()),
      every(eventSeconds, 'events', this.#log, () => this.#events.advance()),
      every(keepAliveSeconds, 'events keep alive', this.#log, () => this.#events.keepAlive()),
      every(sweepSeconds, 'old events', this.#log, (isStopping) => this.#events.sweep(isStopping)),
      this.#measureBackups(),
      watchClock({ db: this.#db, schema: 'secrets', deadlines, log: this.#log, metrics: this.#metrics }),
    ];
    this.notifyMountDisabled(); // an earlier process may have left some
  }

  /** Resolves when the current page is finished. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#events.stop();
    await Promise.all(this.#repeated.map((repeated) => repeated.stop()));
    await this.#purging.catch(() => undefined); // the failure was logged
    await this.#relay?.stop();
  }

  /** Call after the commit of a change of a watched secret. */
  notifyChanged(): void {
    this.#relay?.notify();
  }

  /** Call after a mount was disabled. */
  notifyMountDisabled(): void {
    this.#purge().catch((error: unknown) =>
      logFailure(this.#log, { error }, 'purging disabled mounts failed; will be retried'),
    );
  }

  /** Runs one purge at a time. */
  #purge(): Promise<void> {
    const purge = {
      db: this.#db,
      notifyChanged: () => this.notifyChanged(),
      isStopping: () => this.#isStopping,
    };
    const run = () => purgeDisabledMounts(purge);
    this.#purging = this.#purging.then(run, run);
    return this.#purging;
  }

  #measureBackups(): Repeated {
    const age = this.#metrics.gauge(
      'backup_age_seconds',
      'Seconds since the newest backup, or since the installation if there is none',
      [],
    );
    return every(measureSeconds, 'age of backups', this.#log, async () =>
      age.set(await readBackupAge(this.#db)),
    );
  }

  async #recordExpired(): Promise<void> {
    while (!this.#isStopping) {
      const { versions, eventsQueued } = await recordExpired(this.#db, expiryPageSize);
      if (eventsQueued > 0) this.notifyChanged();
      if (versions < expiryPageSize) return;
    }
  }
}
