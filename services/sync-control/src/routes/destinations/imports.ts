import { invalid, maxLookedAt } from '@secrets/domain';
import { type Endpoint, endpoint, flag, integerBetween, pageLimit } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { type NewImport, startImport } from '../../destinations/calls/import/background/start-import.ts';
import { type ImportLine, importResults } from '../../destinations/calls/import/import-result.ts';
import { type ImportRequest, planImport } from '../../destinations/calls/import/plan-import.ts';
import { type ImportProgress, readImport } from '../../destinations/calls/import/read-import.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import { cancelImport } from '../../queries/destinations/imports.ts';
import { DestinationParams, ListPosition, SecretRef } from '../fields.ts';

const path = '/sys/sync/destinations/:type/:name/import';

/** `sys/sync/destinations/<type>/<name>/import` (docs/conventions/sync-operation.md#import). */
export const importEndpoints = (context: Context): Endpoint[] => [
  readProgress(context),
  importSecrets(context),
  cancel(context),
];

const maxShown = 1_000;

const readProgress = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the progress of the last import of a destination, and what became of each external secret',
    params: DestinationParams,
    query: z.object({
      after: integerBetween(0, 2_147_483_647).default(0),
      limit: pageLimit(maxShown, 100),
    }),
    handle: async ({ params, query, caller, warn }) => {
      const progress = await readImport(context, caller, { ...params, ...query });
      if (progress.next !== undefined) warn(`there may be more: ask again with after=${progress.next}`);
      return { data: presentProgress(params, progress) };
    },
  });

const Name = z.string().min(1).max(2_048);

const Import = z
  .object({
    mount: SecretRef.shape.mount,
    names: z.array(Name).min(1).max(maxLookedAt).optional(),
    match: z.string().min(1).max(512).optional(),
    path: z.string().min(1).max(1_024).default('{{ .ExternalName }}'),
    as: z.enum(['json', 'key']).default('json'),
    key: z.string().min(1).max(512).optional(),
    associate: flag.default(true),
    on_conflict: z.enum(['leave', 'new_version']).default('leave'),
    dry_run: flag.default(true),
    after: ListPosition.optional(),
    limit: z.number().int().min(1).max(maxLookedAt).optional(),
  })
  .superRefine(({ names, as, key, dry_run: isDry, after, limit }, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (names !== undefined && after !== undefined) refuse('after', 'continues a list, so it requires match');
    if (key !== undefined && as === 'json') refuse('key', 'requires as: key');
    if (!isDry && after !== undefined) refuse('after', 'requires dry_run: an import goes through all pages');
    if (!isDry && limit !== undefined) refuse('limit', 'requires dry_run: an import goes through all pages');
  });

const importSecrets = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary:
      'Read what an import of external secrets into a mount would do; with dry_run: false, import them in the background',
    params: DestinationParams,
    body: Import,
    asksOutside: true,
    handle: async ({ params, body, caller, warn }) => {
      const { shownType, ...ref } = params;
      if (!body.dry_run) {
        await startImport(context, caller, { ...ref, ...importOf(body) });
        const started = await readImport(context, caller, { ...ref, after: 0, limit: maxShown });
        return { data: presentProgress(params, started) };
      }
      const { lines, next } = await planImport(context, caller, { ...ref, ...requestOf(body) });
      if (next !== undefined) warn('there may be more: ask again with `next` as `after`');
      return {
        data: {
          store_name: ref.name,
          store_type: shownType,
          mount: body.mount,
          dry_run: true,
          external_secrets: lines.map(presentLine),
          ...(next === undefined ? {} : { next }),
        },
      };
    },
  });

type ImportBody = z.output<typeof Import>;

/** Throws `invalid` unless there are either names or a pattern. */
function requestOf(body: ImportBody): Omit<ImportRequest, 'type' | 'name'> {
  const { names, match, after, limit = maxLookedAt, associate: associates } = body;
  requireOne(body);
  const selection = names === undefined ? { match: match!, after, limit } : { names };
  return { ...mappingOf(body), selection, associates };
}

/** Throws `invalid` unless there are either names or a pattern. */
function importOf(body: ImportBody): Omit<NewImport, 'type' | 'name'> {
  const { names, match, associate: associates, on_conflict: onConflict } = body;
  requireOne(body);
  const selection = names === undefined ? { match: match! } : { names: [...new Set(names)] };
  return { ...mappingOf(body), selection, associates, onConflict };
}

function requireOne({ names, match }: ImportBody): void {
  if ((names === undefined) === (match === undefined))
    throw invalid('names, match: exactly one of them is required');
}

function mappingOf({ mount, path: pathTemplate, as: kind, key = 'value' }: ImportBody) {
  const importedAs = kind === 'json' ? { kind } : { kind, key };
  return { mount, pathTemplate, importedAs };
}

const presentLine = ({ externalName, ...line }: ImportLine) => ({ external_name: externalName, ...line });

const cancel = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Cancel the import of a destination, if one is running. What it has written stays',
    params: DestinationParams,
    handle: async ({ params, caller }) => {
      const { id } = await requireDestination(context, caller, params);
      await cancelImport(context.db, id);
    },
  });

const presentProgress = (
  { name, shownType }: DestinationParams,
  { row, request, lines, next }: ImportProgress,
) => ({
  store_name: name,
  store_type: shownType,
  id: row.id,
  mount: request.mount,
  ...request.selection,
  path: request.pathTemplate,
  as: request.importedAs.kind,
  ...(request.importedAs.kind === 'key' ? { key: request.importedAs.key } : {}),
  associate: request.associates,
  on_conflict: request.onConflict,
  dry_run: false,
  state: row.state,
  error: row.error,
  requested_at: row.requestedAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
  counts: Object.fromEntries(importResults.map((result) => [result, row.counts[result] ?? 0])),
  external_secrets: lines.map(({ number: _, externalName, isWritten, ...line }) => ({
    external_name: externalName,
    ...line,
    written: isWritten,
  })),
  ...(next === undefined ? {} : { next }),
});
