import { invalid, maxLookedAt } from '@secrets/domain';
import { type Endpoint, endpoint, flag } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { ImportLine } from '../../destinations/calls/import/import-result.ts';
import { type ImportRequest, planImport } from '../../destinations/calls/import/plan-import.ts';
import { DestinationParams, ListPosition, SecretRef } from '../fields.ts';

/** `sys/sync/destinations/<type>/<name>/import`, without a change (docs/conventions/sync-operation.md#import). */
export const importEndpoints = (context: Context): Endpoint[] => [importSecrets(context)];

const Name = z.string().min(1).max(2_048);

const Import = z
  .object({
    mount: SecretRef.shape.mount,
    names: z.array(Name).min(1).max(maxLookedAt).optional(),
    match: z.string().min(1).max(512).optional(),
    path: z.string().min(1).max(1_024).default('{{ .ExternalName }}'),
    as: z.enum(['json', 'key']).default('json'),
    key: z.string().min(1).max(512).optional(),
    dry_run: flag.default(true),
    after: ListPosition.optional(),
    limit: z.number().int().min(1).max(maxLookedAt).default(maxLookedAt),
  })
  .superRefine(({ names, as, key, dry_run: isDry, after }, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (names !== undefined && after !== undefined) refuse('after', 'continues a list, so it requires match');
    if (key !== undefined && as === 'json') refuse('key', 'requires as: key');
    if (!isDry) refuse('dry_run', 'must be true: this version only shows what an import would do');
  });

const importSecrets = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/sync/destinations/:type/:name/import',
    summary: 'Read what an import of external secrets into a mount would do, without doing it',
    params: DestinationParams,
    body: Import,
    asksOutside: true,
    handle: async ({ params, body, caller, warn }) => {
      const { shownType, ...ref } = params;
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

/** Throws `invalid` unless there are either names or a pattern. */
function requestOf(body: z.output<typeof Import>): Omit<ImportRequest, 'type' | 'name'> {
  const { mount, names, match, path: pathTemplate, as: kind, key = 'value', after, limit } = body;
  if ((names === undefined) === (match === undefined))
    throw invalid('names, match: exactly one of them is required');
  return {
    mount,
    selection: names === undefined ? { match: match!, after, limit } : { names },
    pathTemplate,
    importedAs: kind === 'json' ? { kind } : { kind, key },
  };
}

const presentLine = ({ externalName, ...line }: ImportLine) => ({ external_name: externalName, ...line });
