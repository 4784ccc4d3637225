import { randomUUID } from 'node:crypto';
import { alreadyExists, limitExceeded } from '../aws-error.ts';
import type { Secret, SecretVersion } from './secret.ts';
import type { SentValue } from './secret-limits.ts';

const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';
const DAY_MS = 24 * 60 * 60 * 1000;

/** The result of a write: a new version and the IDs of the versions pruned for it, or an existing version. */
export interface AddedVersion {
  version: SecretVersion;
  isNew: boolean;
  dropped: string[];
}

/**
 * Adds a version and moves the labels to it. The token is the version's ID: repeating a write with the same token and
 * value returns the existing version. Beyond `limit` versions, those without a label that are older than a day are
 * pruned.
 * @throws AwsError ResourceExistsException if the token was used with another value; LimitExceededException if no
 * version may be pruned
 */
export function addVersion(
  secret: Secret,
  value: SentValue,
  {
    token,
    stages = [CURRENT],
    nowMs,
    limit,
  }: { token?: string | undefined; stages?: string[] | undefined; nowMs: number; limit: number },
): AddedVersion {
  const id = token ?? randomUUID();
  const existing = secret.versions.get(id);
  if (existing) return { version: requireSameValue(existing, value), isNew: false, dropped: [] };
  const dropped = versionsToPrune(secret, nowMs, limit);
  const version = { id, text: value.SecretString, binary: value.SecretBinary, createdAtMs: nowMs };
  for (const stage of stages) moveStage(secret, stage, id);
  return { version, isNew: true, dropped };
}

export function stagesOf(secret: Secret, versionId: string): string[] {
  return [...secret.stages].filter(([, id]) => id === versionId).map(([stage]) => stage);
}

/** The version that is read by default; undefined if the secret has no value. */
export function currentVersion(secret: Secret): SecretVersion | undefined {
  return secret.versions.get(secret.stages.get(CURRENT) ?? '');
}

function requireSameValue(existing: SecretVersion, value: SentValue): SecretVersion {
  if (existing.text === value.SecretString && existing.binary === value.SecretBinary) return existing;
  throw alreadyExists(
    "You can't use ClientRequestToken again: a version with this token and another value exists.",
  );
}

function moveStage(secret: Secret, stage: string, id: string): void {
  const before = secret.stages.get(stage);
  secret.stages.set(stage, id);
  if (stage === CURRENT && before !== undefined) secret.stages.set(PREVIOUS, before);
}

/** The IDs of the versions to prune so that one more fits, oldest first. */
function versionsToPrune(secret: Secret, nowMs: number, limit: number): string[] {
  const excess = secret.versions.size + 1 - limit;
  if (excess <= 0) return [];
  const labelled = new Set(secret.stages.values());
  const prunable = [...secret.versions.values()]
    .filter(({ id, createdAtMs }) => !labelled.has(id) && nowMs - createdAtMs > DAY_MS)
    .map(({ id }) => id);
  if (prunable.length < excess)
    throw limitExceeded(`The secret has the maximum of ${secret.versions.size} versions.`);
  return prunable.slice(0, excess);
}
