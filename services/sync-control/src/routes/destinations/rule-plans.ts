import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import { type Endpoint, endpoint, flag, pageLimit } from '@secrets/http';
import { z } from 'zod';
import { presentPlanned } from '../../associations/planning/present-plan.ts';
import type { Context } from '../../context.ts';
import { planReleases, planRule, type RulePlan } from '../../destinations/rules/plan/plan-rule.ts';
import { type RuleToPlan, storedRule } from '../../destinations/rules/plan/rule-to-plan.ts';
import { prepareRule } from '../../destinations/rules/prepare-rule.ts';
import type { HeldAssociation } from '../../queries/rules/rule-plans.ts';
import { NewRule, RuleParams, rulePath, settingsIn } from './rule-fields.ts';

const path = `${rulePath}/plan`;

/** Secrets of a page. */
const maxPlanned = 100;

const Page = {
  after: z.string().max(4096).optional().describe('the `next` of the previous page'),
  limit: pageLimit(maxPlanned),
  look: flag.default(false).describe('whether to look at what is in the store'),
  released: flag
    .default(false)
    .describe('whether to show what would be released, in place of what would be associated'),
};
type Page = z.output<z.ZodObject<typeof Page>>;

/** `sys/sync/destinations/<type>/<name>/rules/<rule>/plan` (docs/conventions/rules.md#plan). */
export const rulePlanEndpoints = (context: Context): Endpoint[] => [
  planStored(context),
  planWritten(context),
];

const planStored = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read what a rule would still do, page by page',
    params: RuleParams,
    query: z.object(Page),
    handle: async ({ params, query, caller }) => ({
      data: await planned(context, caller, {
        params,
        page: query,
        rule: await storedRule(context, caller, params),
      }),
    }),
  });

const planWritten = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Read what a POST of a rule with these fields would do, page by page, without doing it',
    params: RuleParams,
    body: NewRule.extend(Page),
    handle: async ({ params, body, caller }) => {
      const write = {
        settingsOf: () => settingsIn(body),
        owner: body.owner,
        mayCreate: true,
        needsGrant: false,
      };
      const rule = await prepareRule(context, caller, params, write);
      return { data: await planned(context, caller, { params, page: body, rule }) };
    },
  });

interface Asked {
  params: RuleParams;
  page: Page;
  rule: RuleToPlan;
}

async function planned(context: Context, caller: Caller, { params, page, rule }: Asked) {
  const { after, limit, look, released } = page;
  const shown = released
    ? presentReleases(await planReleases(context, caller, rule, { after: associationIn(after), limit }))
    : presentMatches(await planRule(context, caller, rule, { after: after ?? '', limit, look }), look);
  return { name: params.rule, store_name: params.name, store_type: params.shownType, ...shown };
}

/** The position in a list of associations. */
function associationIn(after: string | undefined): string | undefined {
  if (after === undefined || z.uuid().safeParse(after).success) return after;
  throw invalid('after: must be the `next` of another page');
}

const presentMatches = ({ totals, matches, next, error }: RulePlan, isLookedAt: boolean) => ({
  ...(totals && presentTotals(totals)),
  error,
  secrets: matches.map(({ secretName, change, problems, secrets }) => ({
    secret_name: secretName,
    change,
    accepted: problems.length === 0 && secrets.every(({ refusals }) => refusals.length === 0),
    problems,
    external_secrets: secrets.map((secret) => presentPlanned(secret, isLookedAt)),
  })),
  ...(next === undefined ? {} : { next }),
});

const presentTotals = ({
  matched,
  toAssociate,
  toHold,
  toRelease,
  isComplete,
  needsConfirm,
  fingerprint,
}: NonNullable<RulePlan['totals']>) => ({
  matched,
  to_associate: toAssociate,
  to_hold: toHold,
  to_release: toRelease,
  complete: isComplete,
  needs_confirm: needsConfirm,
  fingerprint,
});

const presentReleases = ({ released, next }: { released: HeldAssociation[]; next: string | undefined }) => ({
  released: released.map(({ mount, secretName }) => ({ mount, secret_name: secretName })),
  ...(next === undefined ? {} : { next }),
});
