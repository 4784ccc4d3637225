import { randomUUID } from 'node:crypto';
import { alreadyExists, limitExceeded } from '../aws-error.ts';
import type { Secret, SecretVersion } from './secret.ts';
import type { SentValue } from './secret-limits.ts';

const CURRENT = 'AWSCURRENT';
const PREVIOUS = 'AWSPREVIOUS';
const DAY_MS = 24 * 60 * 60 * 1000;

/** What a write of a value came to: a version that is new, and those that gave way to it; or one that was there. */
export interface AddedVersion {
  version: SecretVersion;
  isNew: boolean;
  dropped: string[];
}

/**
 * Adds a version under the rules of idempotence: the token is the version's id; the same token with the same
 * value is the version that is there. Labels move, and the hundred-and-first version makes unlabelled ones older
 * than a day give way.
 * @throws AwsRefusal ResourceExistsException for a used token with another value; LimitExceededException when no
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
  const present = secret.versions.get(id);
  if (present) return { version: mustBeSameValue(present, value), isNew: false, dropped: [] };
  const dropped = toPrune(secret, nowMs, limit);
  const version = { id, text: value.SecretString, binary: value.SecretBinary, createdAtMs: nowMs };
  for (const stage of stages) moveStage(secret, stage, id);
  return { version, isNew: true, dropped };
}

export function stagesOf(secret: Secret, versionId: string): string[] {
  return [...secret.stages].filter(([, id]) => id === versionId).map(([stage]) => stage);
}

/** The version that a reader gets who names none; undefined where no value was ever put. */
export function currentVersion(secret: Secret): SecretVersion | undefined {
  return secret.versions.get(secret.stages.get(CURRENT) ?? '');
}

function mustBeSameValue(present: SecretVersion, value: SentValue): SecretVersion {
  if (present.text === value.SecretString && present.binary === value.SecretBinary) return present;
  throw alreadyExists(
    "You can't use ClientRequestToken again: a version with this token and another value exists.",
  );
}

function moveStage(secret: Secret, stage: string, id: string): void {
  const before = secret.stages.get(stage);
  secret.stages.set(stage, id);
  if (stage === CURRENT && before !== undefined) secret.stages.set(PREVIOUS, before);
}

/** Versions that must give way, oldest first, so that one more fits. */
function toPrune(secret: Secret, nowMs: number, limit: number): string[] {
  const excess = secret.versions.size + 1 - limit;
  if (excess <= 0) return [];
  const labelled = new Set(secret.stages.values());
  const prunable = [...secret.versions.values()]
    .filter(({ id, createdAtMs }) => !labelled.has(id) && nowMs - createdAtMs > DAY_MS)
    .map(({ id }) => id);
  if (prunable.length < excess)
    throw limitExceeded(`The secret has ${secret.versions.size} versions, the most allowed.`);
  return prunable.slice(0, excess);
}
