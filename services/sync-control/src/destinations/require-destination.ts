import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { requireFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import {
  type DestinationKey,
  type DestinationRow,
  findDestination,
  lockDestination,
  readable,
} from '../queries/destinations/destinations.ts';

/** Identifies a destination in the namespace of a request. */
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
  return requireFound(await findDestination(db, destinationKey(caller, ref)));
}

/** Returns a destination like `requireDestination`, and locks its row. */
export async function requireLockedDestination(
  tx: Tx,
  caller: Caller,
  ref: DestinationRef,
): Promise<DestinationRow> {
  return readable(requireFound(await lockDestination(tx, destinationKey(caller, ref))));
}
