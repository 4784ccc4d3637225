import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { type AwaitedVersion, listPlacesToWaitFor } from '@secrets/sync-entries';
import { sharedWait, type Wait } from './shared-wait.ts';

/**
 * Resolves when a version has arrived everywhere, or cannot without the operator, after this many milliseconds, or when the
 * signal is aborted. Rejects with a problem (`rate_limited`) if too many clients wait.
 */
export type WaitForArrival = Wait<AwaitedVersion>;

/** Clients that wait in this process, and of one namespace. */
const maxWaiting = 256;
const maxOfNamespace = 64;

/** Look-ups for many clients, of secrets with many destinations, are rarer: they take at most a fifth of one connection. */
const pauseMs = (tookMs: number): number => Math.max(500, 4 * tookMs);

export function waitForArrival(db: Db): WaitForArrival {
  const wait = sharedWait<AwaitedVersion>({ pauseMs, areOver: (awaited) => areOver(db, awaited) });
  const open: string[] = [];
  return async (awaited, milliseconds, signal) => {
    const { namespaceId } = awaited;
    if (open.length >= maxWaiting || open.filter((id) => id === namespaceId).length >= maxOfNamespace)
      throw new Problem('rate_limited', 'too many clients wait for a version', { retryAfterSeconds: 10 });
    open.push(namespaceId);
    await wait(awaited, milliseconds, signal);
    open.splice(open.indexOf(namespaceId), 1);
  };
}

/** Clients that wait for the same version share a look-up. */
async function areOver(db: Db, awaited: readonly AwaitedVersion[]): Promise<boolean[]> {
  const different = [...new Map(awaited.map((one) => [keyOf(one), one])).values()];
  const places = await listPlacesToWaitFor(db, different);
  const waiting = new Set(places.map((place) => keyOf(different[place - 1]!)));
  return awaited.map((one) => !waiting.has(keyOf(one)));
}

const keyOf = ({ namespaceId, mount, secretName, version }: AwaitedVersion): string =>
  JSON.stringify([namespaceId, mount, secretName, version]);
