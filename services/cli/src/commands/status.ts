import { type Context, destinationPath, queryOf, type Verdict } from '../command.ts';

interface Destination {
  type: string;
  name: string;
  entries: Record<string, number>;
  drifted: Record<string, number>;
  queue: { due: number; scheduled: number; in_progress: number };
  state: string;
  reason: string | null;
  removals_held: number;
}

interface StatusPage {
  disabled: boolean;
  held_because: string | null;
  pending: number;
  destinations: Record<string, Destination>;
  next?: string;
}

/** An association whose external secret is not as it should be. */
interface Entry {
  mount: string;
  secret_name: string;
  sub_key: string;
  external_name: string;
  sync_status: string;
  attempts: number;
  next_attempt_at: string | null;
  last_error: string | null;
}

const failures = ['CLIENT_SIDE_ERROR', 'EXTERNAL_SERVICE_ERROR', 'INTERNAL_SERVICE_ERROR'];
const pageSize = 1_000;

/** Returns all destinations, page by page, with what is true of the whole installation. */
async function* statusPages({ api }: Context): AsyncGenerator<StatusPage> {
  let after: string | undefined;
  do {
    const { data } = await api.call<StatusPage>('GET', `sys/sync/status${queryOf({ after })}`);
    yield data;
    after = data.next;
  } while (after !== undefined);
}

const sum = (counts: Record<string, number>, names = Object.keys(counts)): number =>
  names.reduce((total, name) => total + (counts[name] ?? 0), 0);

/** Prints each destination with its counts. False if something has failed, drifted, or is held. */
export async function status(context: Context): Promise<Verdict> {
  const { output } = context;
  let isFine = true;
  const destinations: Destination[] = [];
  for await (const page of statusPages(context)) {
    if (destinations.length === 0 && page.disabled) output.note('syncing is disabled');
    if (destinations.length === 0 && page.held_because !== null)
      output.note(`syncing is held: ${page.held_because}`);
    isFine &&= page.held_because === null;
    destinations.push(...Object.values(page.destinations));
  }
  output.rows(destinations, [
    { title: 'DESTINATION', of: ({ type, name }) => `${type}/${name}` },
    { title: 'SYNCED', of: ({ entries }) => entries.SYNCED ?? 0 },
    { title: 'WAITING', of: ({ queue }) => queue.due + queue.scheduled + queue.in_progress },
    { title: 'FAILED', of: ({ entries }) => sum(entries, failures) },
    { title: 'DRIFTED', of: ({ drifted }) => sum(drifted) },
    { title: 'HELD REMOVALS', of: ({ removals_held: held }) => held },
    { title: 'STATE', of: ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`) },
  ]);
  if (destinations.length === 0) output.note('there are no destinations');
  const isDestinationFine = ({ entries, drifted, removals_held: held }: Destination) =>
    sum(entries, failures) === 0 && sum(drifted) === 0 && held === 0;
  return isFine && destinations.every(isDestinationFine);
}

/** Prints what has failed in a destination, or in all. False if anything has. */
export async function failed(context: Context, destination?: string): Promise<Verdict> {
  const names = destination === undefined ? await failedDestinations(context) : [destination];
  let count = 0;
  for (const name of names) {
    for await (const entries of failedEntries(context, name)) {
      count += entries.length;
      context.output.rows(
        entries.map((entry) => ({ destination: name, ...entry })),
        [
          { title: 'DESTINATION', of: (entry) => entry.destination },
          { title: 'SECRET', of: ({ mount, secret_name: secret }) => `${mount}/${secret}` },
          { title: 'SUB-KEY', of: (entry) => entry.sub_key },
          { title: 'EXTERNAL NAME', of: (entry) => entry.external_name },
          { title: 'STATUS', of: (entry) => entry.sync_status },
          { title: 'NEXT ATTEMPT', of: (entry) => entry.next_attempt_at ?? 'after a change' },
          { title: 'ERROR', of: (entry) => entry.last_error },
        ],
      );
    }
  }
  if (count === 0) context.output.note('nothing has failed');
  return count === 0;
}

async function failedDestinations(context: Context): Promise<string[]> {
  const names: string[] = [];
  for await (const { destinations } of statusPages(context))
    for (const [name, { entries }] of Object.entries(destinations))
      if (sum(entries, failures) > 0) names.push(name);
  return names;
}

async function* failedEntries({ api }: Context, destination: string): AsyncGenerator<Entry[]> {
  const path = `${destinationPath(destination)}/associations`;
  let after: string | undefined;
  do {
    const query = queryOf({ status: failures.join(','), limit: pageSize, after });
    const { data } = await api.call<{ associated_secrets: Record<string, Entry>; next?: string }>(
      'GET',
      `${path}${query}`,
    );
    const entries = Object.values(data.associated_secrets);
    if (entries.length > 0) yield entries;
    after = data.next;
  } while (after !== undefined);
}
