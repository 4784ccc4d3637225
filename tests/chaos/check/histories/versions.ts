import type { Operation, OperationOf } from '../../load/operation.ts';
import { ofKind } from '../../load/operation.ts';

/** The versions of a secret that the service returns in the end, with their values. */
export type FinalVersions = ReadonlyMap<number, string>;

/** An operation that shows which version was the newest at some moment between its start and its end. */
interface Sighting {
  id: string;
  version: number;
  isWrite: boolean;
  invokedAt: number;
  endedAt: number;
}

/**
 * Checks that the operations on each secret can be ordered so that each took effect at one moment between its start and
 * its end (linearizability). Versions make this simple: their numbers are that order. Returns what contradicts it, and
 * acknowledged writes that were lost.
 */
export function checkVersions(
  history: readonly Operation[],
  final: ReadonlyMap<string, FinalVersions>,
): string[] {
  const byKey = Map.groupBy(ofKind(history, 'write', 'read'), ({ key }) => key);
  const all = new Set([...byKey.keys(), ...final.keys()]);
  return [...all].flatMap((key) =>
    checkKey(byKey.get(key) ?? [], final.get(key) ?? new Map()).map((violation) => `${key}: ${violation}`),
  );
}

type KeyOperation = OperationOf<'write'> | OperationOf<'read'>;

function checkKey(operations: readonly KeyOperation[], final: FinalVersions): string[] {
  const writes = ofKind(operations, 'write');
  const reads = ofKind(operations, 'read').filter(({ outcome }) => outcome === 'ok');
  return [
    ...writes.filter(isAcknowledged).flatMap((write) => checkAcknowledged(write, final)),
    ...checkOrigins(writes, final),
    ...reads.flatMap(({ version = 0, value }) =>
      version > 0 && final.get(version) !== value ? [`version ${version} was read with another value`] : [],
    ),
    ...checkOrder(sightings(writes, reads, final)),
  ];
}

const isAcknowledged = ({ outcome }: Operation): boolean => outcome === 'ok';

function checkAcknowledged(
  { version = 0, value, cas }: OperationOf<'write'>,
  final: FinalVersions,
): string[] {
  const found = final.get(version);
  if (found === undefined) return [`the acknowledged version ${version} is lost`];
  if (found !== value) return [`the acknowledged version ${version} has another value`];
  return cas === undefined || version === cas + 1
    ? []
    : [`version ${version} was written although the writer expected version ${cas}`];
}

/** Each version comes from one write, which was not refused. */
function checkOrigins(writes: readonly OperationOf<'write'>[], final: FinalVersions): string[] {
  const byValue = new Map(writes.map((write) => [write.value, write]));
  const seen = new Map<string, number>();
  const found: string[] = [];
  for (const [version, value] of final) {
    const write = byValue.get(value);
    const other = seen.get(value);
    seen.set(value, version);
    if (write === undefined) found.push(`nobody wrote version ${version}`);
    else if (write.outcome === 'failed') found.push(`version ${version} comes from a refused write`);
    if (other !== undefined) found.push(`versions ${other} and ${version} come from one write`);
  }
  const newest = Math.max(0, ...final.keys());
  if (newest !== final.size) found.push(`${final.size} versions are left of ${newest}`);
  return found;
}

function sightings(
  writes: readonly OperationOf<'write'>[],
  reads: readonly OperationOf<'read'>[],
  final: FinalVersions,
): Sighting[] {
  const versionOf = new Map([...final].map(([version, value]) => [value, version]));
  const written = writes.flatMap(({ id, value, invokedAt, endedAt, outcome }) => {
    const version = versionOf.get(value);
    if (version === undefined) return [];
    return [{ id, version, isWrite: true, invokedAt, endedAt: outcome === 'ok' ? endedAt : Infinity }];
  });
  const read = reads.map(({ id, version = 0, invokedAt, endedAt }) => ({
    ...{ id, version, isWrite: false },
    ...{ invokedAt, endedAt },
  }));
  return [...written, ...read];
}

/**
 * Returns the violations of this rule: an operation that began after another one had ended shows no older version, and
 * a write creates a newer one.
 */
function checkOrder(all: readonly Sighting[]): string[] {
  const byStart = all.toSorted((a, b) => a.invokedAt - b.invokedAt);
  const byEnd = all.toSorted((a, b) => a.endedAt - b.endedAt);
  const found: string[] = [];
  let ended = 0;
  let newest: Sighting | undefined;
  for (const later of byStart) {
    for (; byEnd[ended] !== undefined && byEnd[ended]!.endedAt < later.invokedAt; ended += 1)
      if (newest === undefined || byEnd[ended]!.version > newest.version) newest = byEnd[ended];
    if (newest === undefined) continue;
    if (later.version < newest.version || (later.isWrite && later.version === newest.version))
      found.push(
        `${later.isWrite ? 'a write created' : 'a read returned'} version ${later.version} after version ${newest.version} had been seen`,
      );
  }
  return found;
}
