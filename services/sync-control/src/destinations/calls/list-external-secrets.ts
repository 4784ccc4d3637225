import type { Caller } from '@secrets/caller';
import { findDescription } from '@secrets/destinations';
import type { ListedExternalSecret } from '@secrets/domain';
import { namesTaken, type TakenName } from '@secrets/sync-entries';
import type { Context } from '../../context.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { type DestinationRef, requireDestination } from '../require-destination.ts';
import { askStore } from './ask-store.ts';
import { beforeAll, openPosition, sealPosition } from './list-position.ts';

interface ListRequest extends DestinationRef {
  /** The `next` of the page before. */
  after?: string | undefined;
  limit: number;
}

/** An external secret, and the entry of the destination that has its name. */
export interface ExternalSecret extends ListedExternalSecret {
  entry: TakenName | undefined;
}

interface ExternalSecretPage {
  secrets: ExternalSecret[];
  next: string | undefined;
}

/**
 * Has a worker list what is where the destination keeps its external secrets, whoever they belong to: at most one page of the
 * store, which may be empty although others follow (docs/conventions/sync-operation.md#what-is-in-a-store). Throws as `askStore`.
 */
export async function listExternalSecrets(
  context: Context,
  caller: Caller,
  { after, limit, ...ref }: ListRequest,
): Promise<ExternalSecretPage> {
  const destination = await requireDestination(context, caller, ref);
  const { keyRing } = context;
  const position = after === undefined ? beforeAll : openPosition(keyRing, destination.id, after);
  const question = { after: position, limit };
  const { secrets, next } = await askStore(context, destination, { calls: 1, questionFor: () => question });
  return {
    secrets: await withEntries(context, destination, secrets),
    next: next === null ? undefined : sealPosition(keyRing, destination.id, next),
  };
}

async function withEntries(
  { db }: Context,
  { id, type }: DestinationRow,
  secrets: readonly ListedExternalSecret[],
): Promise<ExternalSecret[]> {
  const { collisionKey } = findDescription(type).nameRule;
  const keys = secrets.map(({ name }) => collisionKey(name));
  const entries = new Map((await namesTaken(db, id, keys)).map((entry) => [entry.collisionKey, entry]));
  return secrets.map((secret, index) => ({ ...secret, entry: entries.get(keys[index]!) }));
}
