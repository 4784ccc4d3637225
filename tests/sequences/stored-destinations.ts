import type { InstalledDatabase } from './installed-database.ts';

/** Long enough for every retry and pause to end. */
const passingHours = 3;

/** The destinations of one mount in the database: what no client can see or do. */
export class StoredDestinations {
  readonly #database: InstalledDatabase;
  readonly #names: string;

  constructor(database: InstalledDatabase, mount: string) {
    this.#database = database;
    this.#names = `${mount}d%`;
  }

  /** Lets the time pass for which failed entries, and paused destinations and lanes, wait before they are tried again. */
  async letTimePass(): Promise<void> {
    const earlier = (column: string) => `${column} = ${column} - interval '${passingHours} hours'`;
    const unlocked = 'for no key update of o skip locked'; // the next call moves the others
    await this.#database.query(
      `with mine as (select id, lane_id from sync.destinations where name like $1 and namespace_id = 'root'),
       lane as (update sync.lanes set ${earlier('paused_until')} where id in (
         select o.id from sync.lanes o where o.id in (select lane_id from mine) and o.paused_until > now() ${unlocked})),
       health as (update sync.destination_health set ${earlier('paused_until')} where destination_id in (
         select o.destination_id from sync.destination_health o
          where o.destination_id in (select id from mine) and o.paused_until > now() ${unlocked}))
       update sync.entries set ${earlier('due_at')}, ${earlier('next_attempt_at')} where id in (
         select o.id from sync.entries o where o.destination_id in (select id from mine)
            and o.next_attempt_at > now() and o.lease_until is null ${unlocked})`,
      [this.#names],
    );
  }
}
