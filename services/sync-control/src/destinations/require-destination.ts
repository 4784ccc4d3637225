import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { notFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import {
  type DestinationKey,
  type DestinationRow,
  findDestination,
  lockDestination,
} from '../queries/destinations.ts';

/** What identifies a destination in the namespace of a request. */
export interface DestinationRef {
  type: string;
  name: string;
}

/** Returns the key of a destination of the caller's namespace. Throws `not_found`, with a sentence, if there is no such type. */
export function destinationKey({ namespace }: Caller, { type, name }: DestinationRef): DestinationKey {
  findDescription(type);
  return { namespaceId: namespace.id, type, name };
}

/** Returns a destination of the caller's namespace. Throws `not_found` if it does not exist. */
export async function requireDestination(
  { db }: Pick<Context, 'db'>,
  caller: Caller,
  ref: DestinationRef,
): Promise<DestinationRow> {
  const destination = await findDestination(db, destinationKey(caller, ref));
  if (destination === undefined) throw notFound();
  return destination;
}

/** As `requireDestination`; also locks the row. */
export async function requireLockedDestination(
  tx: Tx,
  caller: Caller,
  ref: DestinationRef,
): Promise<DestinationRow> {
  const destination = await lockDestination(tx, destinationKey(caller, ref));
  if (destination === undefined) throw notFound();
  return destination;
}
