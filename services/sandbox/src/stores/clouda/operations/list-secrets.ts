import { z } from 'zod';
import { invalidParameter } from '../aws-error.ts';
import type { Secret } from '../store/secret.ts';
import { secretSummary, versionIdsToStages } from './describe-secret.ts';
import { type OperationContext, operation, primaryOf } from './operation.ts';

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

/** Returns secrets in order of creation, one page at a time. */
export const listSecrets = operation(Input, (context, input) => {
  const after = input.NextToken === undefined ? 0 : parseNextToken(input.NextToken);
  const page: Secret[] = [];
  for (const secret of context.store.all()) {
    if (secret.position <= after || !isListed(context, secret, input)) continue;
    page.push(secret);
    if (page.length > input.MaxResults) break;
  }
  const shown = page.slice(0, input.MaxResults);
  const last = shown.at(-1);
  return {
    SecretList: shown.map((secret) => ({
      ...secretSummary(context, secret),
      SecretVersionsToStages: versionIdsToStages(primaryOf(context, secret)),
    })),
    NextToken: last && page.length > shown.length ? nextToken(last.position) : undefined,
  };
});

function isListed(context: OperationContext, secret: Secret, input: z.output<typeof Input>): boolean {
  if (secret.forced || (secret.deletedAtMs !== undefined && !input.IncludePlannedDeletion)) return false;
  const primary = primaryOf(context, secret);
  return input.Filters.every(({ Key, Values }) => Values.some((value) => matchesFilter(primary, Key, value)));
}

function matchesFilter(secret: Secret, key: z.output<typeof Filter>['Key'], value: string): boolean {
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

function nextToken(position: number): string {
  return Buffer.from(`after:${position}`).toString('base64url');
}

function parseNextToken(token: string): number {
  const position = /^after:(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString())?.[1];
  if (position === undefined) throw invalidParameter('The NextToken value is invalid.');
  return Number(position);
}
