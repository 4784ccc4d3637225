import type { InstalledDatabase } from './installed-database.ts';

/** Long enough for every retry and pause to end. */
const passingHours = 3;
/** Longer than anything waits that no store refuses. */
const soon = "interval '5 minutes'";

/** The destinations of one mount in the database: what no client can see or do. */
export class StoredDestinations {
  readonly #database: InstalledDatabase;
  readonly #names: string;

  constructor(database: InstalledDatabase, mount: string) {
    this.#database = database;
    this.#names = `${mount}d%`;
  }

  /** The collision keys of the external secrets that the service knows; undefined while the database is away. */
  async knownNames(): Promise<Set<string> | undefined> {
    const rows = await this.#query<{ name: string }>(
      `select e.collision_key as name from sync.entries e join sync.destinations d on d.id = e.destination_id
        where d.name like $1 and d.namespace_id = 'root'`,
    );
    return rows && new Set(rows.map(({ name }) => name));
  }

  /** Whether nothing is in progress, and nothing will be tried soon. */
  async isAtRest(): Promise<boolean> {
    const rows = await this.#query<{ is_at_rest: boolean }>(
      `select not exists (
         select from sync.destinations d left join sync.entries e on e.destination_id = d.id
          where d.name like $1 and d.namespace_id = 'root'
            and (coalesce(d.purge_initiated_at, d.push_initiated_at, d.replan_initiated_at, d.retry_initiated_at) is not null
                 or coalesce(e.announced_at, e.lease_until, e.due_at) < now() + ${soon})) as is_at_rest`,
    );
    return rows?.[0]?.is_at_rest ?? false;
  }

  /** Lets the time pass for which failed entries, and paused destinations and lanes, wait before they are tried again. */
  async letTimePass(): Promise<void> {
    const earlier = (column: string) => `${column} = ${column} - interval '${passingHours} hours'`;
    const unlocked = 'for no key update of o skip locked'; // the next call moves the others
    await this.#query(
      `with mine as (select id, lane_id from sync.destinations where name like $1 and namespace_id = 'root'),
       lane as (update sync.lanes set ${earlier('paused_until')} where id in (
         select o.id from sync.lanes o where o.id in (select lane_id from mine) and o.paused_until > now() ${unlocked})),
       health as (update sync.destination_health set ${earlier('paused_until')} where destination_id in (
         select o.destination_id from sync.destination_health o
          where o.destination_id in (select id from mine) and o.paused_until > now() ${unlocked}))
       update sync.entries set ${earlier('due_at')}, ${earlier('next_attempt_at')} where id in (
         select o.id from sync.entries o where o.destination_id in (select id from mine)
            and o.next_attempt_at > now() and o.lease_until is null ${unlocked})`,
    );
  }

  #query<Row extends object>(text: string): Promise<Row[] | undefined> {
    return this.#database.query<Row>(text, [this.#names]);
  }
}
