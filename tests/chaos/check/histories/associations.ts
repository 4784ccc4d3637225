import { type Operation, ofKind } from '../../load/operation.ts';

/** The associations and destinations that the service lists in the end. */
export interface FinalAssociations {
  /** `<destination> <key>` of each association. */
  associations: ReadonlySet<string>;
  /** IDs of the destinations. */
  destinations: ReadonlySet<string>;
}

/** A request whose outcome is unknown may take effect until then after it ended: the time limits of the services are shorter. */
const lateMs = 60_000;

/**
 * Checks that each association, and each destination that comes and goes, is as its last acknowledged request left it,
 * or as one left it whose outcome is unknown. Its requests come from one client, one after the other.
 */
export function checkAssociations(
  history: readonly Operation[],
  cycled: readonly string[],
  { associations, destinations }: FinalAssociations,
): string[] {
  const purges = ofKind(history, 'purge');
  const keysOf = Map.groupBy(ofKind(history, 'set', 'remove'), ({ destination }) => destination);
  const found: string[] = [];
  const compare = (what: string, isThere: boolean, operations: readonly Operation[]) => {
    if (!allowedStates(operations).has(isThere))
      found.push(
        `${what} ${isThere ? 'exists, although it was removed' : 'does not exist, although it was set'}`,
      );
  };
  for (const [destination, requests] of keysOf)
    for (const key of new Set(requests.map((one) => one.key))) {
      const ofThis = [
        ...requests.filter((one) => one.key === key),
        ...purges.filter((one) => one.destination === destination),
      ].sort((a, b) => a.invokedAt - b.invokedAt);
      compare(
        `the association of ${key} with ${destination}`,
        associations.has(`${destination} ${key}`),
        ofThis,
      );
    }
  for (const destination of cycled)
    compare(`the destination ${destination}`, destinations.has(destination), existence(history, destination));
  return found;
}

/** The requests that decide whether a destination exists. A creation and a set are refused while it is being purged. */
const existence = (history: readonly Operation[], destination: string): Operation[] =>
  ofKind(history, 'purge', 'create', 'set').filter((one) => one.destination === destination);

const creates = (act: Operation['act']): boolean => act === 'set' || act === 'create';

function allowedStates(operations: readonly Operation[]): Set<boolean> {
  const effective = operations.filter(({ outcome }) => outcome !== 'failed');
  const last = effective.findLast(({ outcome }) => outcome === 'ok');
  const allowed = new Set(last === undefined ? [] : [creates(last.act)]);
  const since = last === undefined ? 0 : last.invokedAt - lateMs;
  for (const { act, outcome, endedAt } of effective)
    if (outcome === 'unknown' && endedAt > since) allowed.add(creates(act));
  // What existed before the history, such as a destination that the load starts with.
  if (last === undefined) allowed.add(true).add(false);
  return allowed;
}
