import { destinationType, invalid, rulePattern, whyNoPattern, withoutNul } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, flag, pageQuery, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import { readRule } from '../../destinations/rules/read-rule.ts';
import { removeRule } from '../../destinations/rules/remove-rule.ts';
import { type RuleSettings, type RuleWrite, saveRule } from '../../destinations/rules/save-rule.ts';
import { listRuleNames } from '../../queries/rules/rules.ts';
import { DestinationParams, name, SecretRef } from '../fields.ts';

const listPath = '/sys/sync/destinations/:type/:name/rules';
const path = `${listPath}/:rule`;

const RuleParams = z
  .object({ type: z.string(), name, rule: name })
  .transform(({ type, ...ref }) => ({ ...ref, type: destinationType(type), shownType: type }));
type RuleParams = z.output<typeof RuleParams>;

/** `sys/sync/destinations/<type>/<name>/rules/<rule>` (docs/conventions/rules.md). */
export const ruleEndpoints = (context: Context): Endpoint[] => [
  listRules(context),
  getRule(context),
  writeRule(context),
  patchRule(context),
  deleteRule(context),
];

const maxExcluded = 100;
const maxMetadataKeys = 16;
/** Limits of `custom_metadata`. */
const maxValueBytes = 512;
const maxKeyBytes = 128;

const pattern = z
  .string()
  .superRefine((text, context) => {
    const message = whyNoPattern(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta(rulePattern);

const metadataText = z.string().meta({ ...withoutNul, maxLength: maxValueBytes / 4 });

const metadataMatch = z
  .record(z.string(), metadataText, { error: 'must be a map of strings' })
  .refine((map) => Object.keys(map).length <= maxMetadataKeys, {
    error: `must have at most ${maxMetadataKeys} keys`,
  })
  .refine((map) => Object.keys(map).every((key) => Buffer.byteLength(key) <= maxKeyBytes), {
    error: `each key must be at most ${maxKeyBytes} bytes`,
  })
  .refine((map) => Object.values(map).every((value) => Buffer.byteLength(value) <= maxValueBytes), {
    error: `each value must be at most ${maxValueBytes} bytes`,
  });

const fields = {
  mount: SecretRef.shape.mount,
  path: pattern,
  exclude: z.array(pattern).max(maxExcluded),
  metadata_match: metadataMatch,
  owner: z.uuid('must be the ID of an entity').optional(),
};

const NewRule = z.object({
  ...fields,
  exclude: fields.exclude.default([]),
  metadata_match: fields.metadata_match.default({}),
});

/** In a merge patch, null restores the default of a field; mount and path have none, and stay. */
const RulePatch = z.object({
  mount: fields.mount.nullish(),
  path: fields.path.nullish(),
  exclude: fields.exclude.nullish(),
  metadata_match: z.record(z.string(), metadataText.nullable()).nullish(),
  owner: fields.owner.nullable(),
});

/** Whether its associations stay, as ones that are held by hand; in the query or in the body. */
const KeepOption = z.object({ keep: flag.optional() });

const listRules = (context: Context) =>
  endpoint({
    method: 'list',
    path: listPath,
    summary: 'List the rules of a destination',
    params: DestinationParams,
    query: pageQuery({ max: 1_000, after: z.string().max(4096) }),
    handle: async ({ params, query, caller, warn }) => {
      const { after = '', limit } = query;
      const { id } = await requireDestination(context, caller, params);
      const names = requireNonEmpty(await listRuleNames(context.db, id, { after, limit: limit + 1 }));
      return { data: { keys: cutToPage(names, limit, (last) => ({ after: last }), warn) } };
    },
  });

const getRule = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a rule, its owner, and its progress',
    params: RuleParams,
    handle: async ({ params, caller }) => ({
      data: present(params, await readRule(context, caller, params)),
    }),
  });

const writeRule = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create or replace a rule, which associates every secret that it matches, also later',
    needs: 'create or update',
    params: RuleParams,
    body: NewRule,
    handle: async ({ params, body: { metadata_match, owner, ...settings }, caller }) => {
      const settingsOf = () => ({ ...settings, metadataMatch: metadata_match });
      await saveRule(context, caller, params, { settingsOf, owner, mayCreate: true });
      return { data: present(params, await readRule(context, caller, params)) };
    },
  });

const patchRule = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Update a rule (merge patch), and become its owner; null restores a default',
    params: RuleParams,
    body: RulePatch,
    handle: async ({ params, body, caller }) => {
      const write = { settingsOf: patched(body), owner: body.owner ?? undefined, mayCreate: false };
      await saveRule(context, caller, params, write);
      return { data: present(params, await readRule(context, caller, params)) };
    },
  });

const patched =
  ({ mount, path, exclude, metadata_match }: z.output<typeof RulePatch>): RuleWrite['settingsOf'] =>
  (existing) => {
    const before: RuleSettings = existing!;
    return {
      mount: mount ?? before.mount,
      path: path ?? before.path,
      exclude: exclude === null ? [] : (exclude ?? before.exclude),
      metadataMatch: mergedMetadata(before.metadataMatch, metadata_match),
    };
  };

function mergedMetadata(
  before: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>> | null | undefined,
): Record<string, string> {
  if (patch === null) return {};
  const merged = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null);
  const { success, data, error } = metadataMatch.safeParse(Object.fromEntries(merged));
  if (!success) throw invalid(`metadata_match: ${error.issues[0]?.message}`);
  return data;
}

const deleteRule = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a rule, and the associations that nothing else holds; with keep, leave them',
    params: RuleParams,
    query: KeepOption,
    body: KeepOption,
    handle: ({ params, query, body, caller }) =>
      removeRule(context, caller, params, { keep: query.keep ?? body.keep ?? false }),
  });

const present = (
  { rule, name: store, shownType }: RuleParams,
  shown: Awaited<ReturnType<typeof readRule>>,
) => ({ name: rule, store_name: store, store_type: shownType, ...shown });
