import type { z } from 'zod';
import { invalidRequest } from '../aws-error.ts';
import type { RegionStore } from '../store/region-store.ts';
import type { RegionStores } from '../store/region-stores.ts';
import type { Secret } from '../store/secret.ts';

/** Delays and limits that differ between tests and the real service. */
export interface OperationLimits {
  /** How long a name stays reserved after a deletion without recovery. */
  forcedDeleteMs: number;
  /** How long a replication stays in progress. */
  replicationMs: number;
  /** Maximum number of versions per secret. */
  versionLimit: number;
}

/** Context of an operation: the caller's region, all regions, the time and the limits. */
export interface OperationContext extends OperationLimits {
  store: RegionStore;
  regions: RegionStores;
  nowMs: number;
}

/** One operation of the API. `run` throws a ZodError if the input has the wrong shape. */
export interface Operation {
  run(context: OperationContext, input: unknown): object;
}

/** Defines an operation with the schema of its input. */
export function operation<Input extends z.ZodType>(
  input: Input,
  perform: (context: OperationContext, input: z.output<Input>) => object,
): Operation {
  return { run: (context, sent) => perform(context, input.parse(sent)) };
}

/**
 * Returns a secret that can be changed.
 * @throws AwsError ResourceNotFoundException; InvalidRequestException if it is scheduled for deletion or a replica
 */
export function writableSecret(context: OperationContext, secretId: string): Secret {
  const secret = readableSecret(context, secretId);
  if (secret.primaryRegion === undefined) return secret;
  throw invalidRequest(
    "Operation not permitted on a replica secret. Call must be made in primary secret's region.",
  );
}

/**
 * Returns a secret that can be read.
 * @throws AwsError ResourceNotFoundException; InvalidRequestException if it is scheduled for deletion
 */
export function readableSecret(context: OperationContext, secretId: string): Secret {
  const secret = context.store.find(secretId);
  if (secret.deletedAtMs === undefined) return secret;
  throw invalidRequest("You can't perform this operation on the secret because it was marked for deletion.");
}

/** The secret that holds the values, labels and tags: `secret` itself, or the primary of a replica. */
export function primaryOf(context: OperationContext, secret: Secret): Secret {
  return context.regions.primaryOf(context.store.account, secret);
}

/** A date in the protocol's format: seconds since the epoch. */
export const wireDate = (ms: number) => ms / 1000;

export function wireTags(tags: ReadonlyMap<string, string>): { Key: string; Value: string }[] {
  return [...tags].map(([Key, Value]) => ({ Key, Value }));
}
