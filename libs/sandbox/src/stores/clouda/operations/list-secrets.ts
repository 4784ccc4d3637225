import { z } from 'zod';
import { invalidParameter } from '../aws-error.ts';
import type { Secret } from '../store/secret.ts';
import { labelledVersions, overview } from './describe-secret.ts';
import { operation, type Realm, source } from './operation.ts';

const Filter = z.object({
  Key: z.enum(['name', 'description', 'tag-key', 'tag-value', 'all', 'primary-region', 'owning-service']),
  Values: z.array(z.string().max(512)).min(1).max(10),
});

const Input = z.object({
  MaxResults: z.int().min(1).max(100).default(100),
  NextToken: z.string().max(4096).optional(),
  Filters: z.array(Filter).max(10).default([]),
  IncludePlannedDeletion: z.boolean().default(false),
});

/** Secrets in order of creation, a page at a time; as old as the sandbox was told to let lists be. */
export const listSecrets = operation(Input, (realm, input) => {
  const after = input.NextToken === undefined ? 0 : positionOf(input.NextToken);
  const page: Secret[] = [];
  for (const secret of asSeen(realm)) {
    if (secret.position <= after || !isListed(realm, secret, input)) continue;
    page.push(secret);
    if (page.length > input.MaxResults) break;
  }
  const shown = page.slice(0, input.MaxResults);
  const last = shown.at(-1);
  return {
    SecretList: shown.map((secret) => ({
      ...overview(realm, secret),
      SecretVersionsToStages: labelledVersions(source(realm, secret)),
    })),
    NextToken: last && page.length > shown.length ? tokenAt(last.position) : undefined,
  };
});

/** What the list knows: not yet the newest secrets, still those that went lately. */
function asSeen(realm: Realm): Iterable<Secret> {
  if (realm.staleMs === 0) return realm.shelf.all();
  const sinceMs = realm.nowMs - realm.staleMs;
  const seen = [...realm.shelf.all(), ...realm.shelf.departedSince(sinceMs).map(asBeforeDeletion)];
  return seen
    .map((secret) => (deletedAfter(secret, sinceMs) ? asBeforeDeletion(secret) : secret))
    .filter((secret) => secret.createdAtMs <= sinceMs)
    .sort((one, other) => one.position - other.position);
}

function deletedAfter({ deletedAtMs }: Secret, sinceMs: number): boolean {
  return deletedAtMs !== undefined && deletedAtMs > sinceMs;
}

function asBeforeDeletion(secret: Secret): Secret {
  return { ...secret, deletedAtMs: undefined, purgeAtMs: undefined, forced: false };
}

function isListed(realm: Realm, secret: Secret, input: z.output<typeof Input>): boolean {
  if (secret.forced || (secret.deletedAtMs !== undefined && !input.IncludePlannedDeletion)) return false;
  const held = source(realm, secret);
  return input.Filters.every(({ Key, Values }) => Values.some((value) => fits(held, Key, value)));
}

function fits(secret: Secret, key: z.output<typeof Filter>['Key'], value: string): boolean {
  const texts = {
    name: [secret.name],
    description: [secret.description ?? ''],
    'tag-key': [...secret.tags.keys()],
    'tag-value': [...secret.tags.values()],
    'primary-region': [secret.primaryRegion ?? ''],
    'owning-service': [],
    all: [secret.name, secret.description ?? '', ...secret.tags.keys(), ...secret.tags.values()],
  }[key];
  return texts.some((text) => text.startsWith(value));
}

function tokenAt(position: number): string {
  return Buffer.from(`after:${position}`).toString('base64url');
}

function positionOf(token: string): number {
  const position = /^after:(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (position === undefined) throw invalidParameter('The NextToken value is invalid.');
  return Number(position);
}
