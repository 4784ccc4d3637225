import { invalid } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, flag, pageQuery, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import type { RuleSettings, RuleWrite } from '../../destinations/rules/prepare-rule.ts';
import { readRule } from '../../destinations/rules/read-rule.ts';
import { removeRule } from '../../destinations/rules/remove-rule.ts';
import { saveRule } from '../../destinations/rules/save-rule.ts';
import { listRuleNames } from '../../queries/rules/rules.ts';
import { DestinationParams } from '../fields.ts';
import {
  metadataMatch,
  metadataText,
  NewRule,
  namingIn,
  RuleParams,
  ruleFields,
  rulePath,
  rulesPath,
  settingsIn,
} from './rule-fields.ts';

/** `sys/sync/destinations/<type>/<name>/rules/<rule>` (docs/conventions/rules.md). */
export const ruleEndpoints = (context: Context): Endpoint[] => [
  listRules(context),
  getRule(context),
  writeRule(context),
  patchRule(context),
  deleteRule(context),
];

/** The fingerprint of the plan, if the write needs it. */
const confirm = z
  .string()
  .max(64)
  .optional()
  .describe('the `fingerprint` of the plan, if the rule associates or releases much');

/** In a merge patch, null restores the default of a field; mount and path have none, and stay. */
const RulePatch = z.object({
  mount: ruleFields.mount.nullish(),
  path: ruleFields.path.nullish(),
  exclude: ruleFields.exclude.nullish(),
  metadata_match: z.record(z.string(), metadataText.nullable()).nullish(),
  secret_name_template: ruleFields.secret_name_template,
  granularity: ruleFields.granularity,
  value_key: ruleFields.value_key,
  owner: ruleFields.owner.nullable(),
  confirm: confirm.nullable(),
});

/** Whether its associations stay, as ones that are held by hand; in the query or in the body. */
const KeepOption = z.object({ keep: flag.optional() });

const listRules = (context: Context) =>
  endpoint({
    method: 'list',
    path: rulesPath,
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
    path: rulePath,
    summary: 'Read a rule, its owner, and its progress',
    params: RuleParams,
    handle: async ({ params, caller }) => ({
      data: present(params, await readRule(context, caller, params)),
    }),
  });

const writeRule = (context: Context) =>
  endpoint({
    method: 'post',
    path: rulePath,
    summary: 'Create or replace a rule, which associates every secret that it matches, also later',
    needs: 'create or update',
    params: RuleParams,
    body: NewRule.extend({ confirm }),
    handle: async ({ params, body, caller }) => {
      const { owner, confirm } = body;
      const settingsOf = () => settingsIn(body);
      const write = { settingsOf, owner, confirm, mayCreate: true, needsGrant: true };
      await saveRule(context, caller, params, write);
      return { data: present(params, await readRule(context, caller, params)) };
    },
  });

const patchRule = (context: Context) =>
  endpoint({
    method: 'patch',
    path: rulePath,
    summary: 'Update a rule (merge patch), and become its owner; null restores a default',
    params: RuleParams,
    body: RulePatch,
    handle: async ({ params, body, caller }) => {
      const { owner, confirm } = body;
      const write = {
        settingsOf: patched(body),
        owner: owner ?? undefined,
        confirm: confirm ?? undefined,
        mayCreate: false,
        needsGrant: false,
      };
      await saveRule(context, caller, params, write);
      return { data: present(params, await readRule(context, caller, params)) };
    },
  });

const patched =
  ({ mount, path, exclude, metadata_match, ...body }: z.output<typeof RulePatch>): RuleWrite['settingsOf'] =>
  (existing) => {
    const before: RuleSettings = existing!;
    return {
      mount: mount ?? before.mount,
      path: path ?? before.path,
      exclude: exclude === null ? [] : (exclude ?? before.exclude),
      metadataMatch: mergedMetadata(before.metadataMatch, metadata_match),
      naming: namingIn(body, before.naming),
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
    path: rulePath,
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
