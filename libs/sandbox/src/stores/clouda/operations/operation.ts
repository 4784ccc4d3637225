import type { z } from 'zod';
import { invalidRequest } from '../aws-error.ts';
import type { SecretShelf } from '../store/region-store.ts';
import type { SecretShelves } from '../store/region-stores.ts';
import type { Secret } from '../store/secret.ts';

/** What an operation may see and touch: the caller's shelf, the moment, and how the sandbox is set. */
export interface Realm {
  shelf: SecretShelf;
  shelves: SecretShelves;
  nowMs: number;
  /** How far behind the truth a list is. */
  staleMs: number;
  /** How long a name stays taken after a deletion without recovery. */
  forcedDeleteMs: number;
  /** How long a replication is in progress. */
  replicationMs: number;
  versionLimit: number;
}

/** One operation of the API: the shape of what it takes, and what it does. */
export interface Operation {
  run(realm: Realm, input: unknown): object;
  input: z.ZodType;
}

/** Ties an operation to the shape of its input. */
export function operation<Input extends z.ZodType>(
  input: Input,
  act: (realm: Realm, input: z.output<Input>) => object,
): Operation {
  return { input, run: (realm, sent) => act(realm, input.parse(sent)) };
}

/**
 * The secret to be changed.
 * @throws AwsRefusal ResourceNotFoundException; InvalidRequestException when it is scheduled for deletion or a replica
 */
export function changeable(realm: Realm, secretId: string): Secret {
  const secret = usable(realm, secretId);
  if (secret.primaryRegion === undefined) return secret;
  throw invalidRequest(
    "Operation not permitted on a replica secret. Call must be made in primary secret's region.",
  );
}

/**
 * The secret to be read.
 * @throws AwsRefusal ResourceNotFoundException; InvalidRequestException when it is scheduled for deletion
 */
export function usable(realm: Realm, secretId: string): Secret {
  const secret = realm.shelf.find(secretId);
  if (secret.deletedAtMs === undefined) return secret;
  throw invalidRequest("You can't perform this operation on the secret because it was marked for deletion.");
}

/** Where the values, labels and tags of a secret are: itself, or what it mirrors. */
export function source(realm: Realm, secret: Secret): Secret {
  if (secret.primaryRegion === undefined) return secret;
  return realm.shelves.of(realm.shelf.account, secret.primaryRegion).named(secret.name) ?? secret;
}

/** A date as the protocol spells it: seconds since the epoch. */
export const wireDate = (ms: number) => ms / 1000;

export function wireTags(tags: ReadonlyMap<string, string>): { Key: string; Value: string }[] {
  return [...tags].map(([Key, Value]) => ({ Key, Value }));
}
