import type { Caller } from '@secrets/caller';
import { invalid, notFound, Problem } from '@secrets/domain';
import { type Arrival, maxArrivals, readArrivals } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import { stopped, whyStopped } from '../destinations/status/require-callable.ts';

interface VersionRequest {
  mount: string;
  secretName: string;
  /** Undefined for the newest one that can be read. */
  version: number | undefined;
}

interface VersionProgress {
  version: number;
  currentVersion: number;
  hasArrived: boolean;
  /** The destinations, as `<type>/<name>`, that do not have the version yet. */
  missing: string[];
  warnings: string[];
}

/**
 * Waits until a version of a secret, or a later one, has arrived in each destination that the secret is associated with
 * (docs/conventions/sync.md#waiting-for-a-version), but no longer than `waitMs`, or until the signal is aborted. Returns what is
 * missing then. Throws `not_found` if the secret is not associated, `conflict`, which says where and why, as soon as the operator
 * is needed, `invalid` if there are too many destinations, and `rate_limited` if too many clients wait.
 */
export async function waitForVersion(
  context: Context,
  caller: Caller,
  { mount, secretName, version: asked }: VersionRequest,
  { waitMs, abandoned }: { waitMs: number; abandoned: AbortSignal },
): Promise<VersionProgress> {
  const secret = { namespaceId: caller.namespace.id, mount, secretName };
  const read = async (version: number | null) =>
    requireFew(await readArrivals(context.db, { ...secret, version }));
  const first = await read(asked ?? null);
  const version = asked ?? (newest(first, 'readableVersion') || newest(first, 'currentVersion') || 1);
  if (waitMs === 0 || !isWaiting(first)) return progress(context, caller, version, first);
  await context.queue.arrival({ ...secret, version }, waitMs, abandoned);
  return progress(context, caller, version, await read(version));
}

function requireFew(arrivals: Arrival[]): Arrival[] {
  if (arrivals.length === 0) throw notFound();
  if (arrivals.length > maxArrivals)
    throw invalid(`version: the secret has more than ${maxArrivals} destinations; look at each of them`);
  return arrivals;
}

/** The highest number of a version; 0 if there is none. */
const newest = (arrivals: readonly Arrival[], which: 'currentVersion' | 'readableVersion'): number =>
  Math.max(...arrivals.map((arrival) => arrival[which] ?? 0));

const isWaiting = (arrivals: readonly Arrival[]): boolean =>
  !arrivals.some(({ needsOperator }) => needsOperator) && arrivals.some(({ state }) => state !== 'arrived');

async function progress(
  context: Context,
  caller: Caller,
  version: number,
  arrivals: readonly Arrival[],
): Promise<VersionProgress> {
  if (arrivals.some(({ needsOperator }) => needsOperator))
    throw await operatorNeeded(context, caller, version, arrivals);
  const missing = arrivals.filter(({ state }) => state !== 'arrived').map(pathOf);
  const currentVersion = newest(arrivals, 'currentVersion');
  const because = missing.length > 0 ? await whyStopped(context.db) : null;
  const warnings = [
    version > currentVersion
      ? `version ${version} has not been written; the last one is ${currentVersion}`
      : undefined,
    because === null ? undefined : stopped(because).message,
  ].filter((warning) => warning !== undefined);
  return { version, currentVersion, hasArrived: missing.length === 0, missing, warnings };
}

const shown = 10;

async function operatorNeeded(
  { policies }: Context,
  caller: Caller,
  version: number,
  arrivals: readonly Arrival[],
): Promise<Problem> {
  const failures = arrivals.filter(({ needsOperator }) => needsOperator);
  const sentences = await Promise.all(
    failures.slice(0, shown).map(async (arrival) => {
      const path = `sys/sync/destinations/${pathOf(arrival)}/associations`;
      const mayReadError = arrival.state !== 'failed' || (await policies.mayRead(caller, path));
      return `${pathOf(arrival)}: ${mayReadError ? reasonOf(arrival, version) : hidden}`;
    }),
  );
  const more = failures.length > shown ? [`${failures.length - shown} other destinations need it, too`] : [];
  return new Problem('conflict', `version ${version} does not arrive without the operator`, {
    also: [...sentences, ...more],
  });
}

const hidden =
  'the status is CLIENT_SIDE_ERROR; the reason needs read on the associations of the destination';

const reasonOf = ({ state, error }: Arrival, version: number): string =>
  ({
    gone: 'the secret no longer exists',
    deleted: `version ${version} was deleted, and no later one can be read`,
    held: 'keys of the secret are gone, and removals are held until they are confirmed',
    failed: error ?? 'the status is CLIENT_SIDE_ERROR',
  })[state as 'gone'];

const pathOf = ({ type, name }: Arrival): string => `${type}/${name}`;
