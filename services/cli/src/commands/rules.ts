import { Refused } from '../api.ts';
import { type Context, destinationPath, queryOf, type Verdict } from '../command.ts';
import { type Rule, ruleColumns, ruleText } from './rule-output.ts';
import {
  type PlanPage,
  type PlanTotals,
  planColumns,
  type ReleasePage,
  releaseColumns,
  totalsText,
} from './rule-plan-output.ts';

/** Fields of the request, as the API has them. */
export interface RuleFields {
  mount: string;
  path: string;
  exclude: readonly string[];
  metadata_match: Readonly<Record<string, string>>;
  owner?: string;
}

const pageSize = 100;
const concurrentReads = 8;

const rulePath = (destination: string, rule: string): string =>
  `${destinationPath(destination)}/rules/${encodeURIComponent(rule)}`;

/** Returns the names of the rules of a destination, page by page. */
async function* namePages(context: Context, destination: string): AsyncGenerator<string[]> {
  let after: string | undefined;
  do {
    const names = await namesAfter(context, destination, after);
    yield names;
    after = names.length < pageSize ? undefined : names.at(-1);
  } while (after !== undefined);
}

/** A list without rules and a destination that does not exist have the same status. */
async function namesAfter({ api }: Context, destination: string, after?: string): Promise<string[]> {
  const path = destinationPath(destination);
  const query = queryOf({ list: 'true', limit: pageSize, after });
  try {
    return (await api.call<{ keys: string[] }>('GET', `${path}/rules${query}`)).data.keys;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    if (after === undefined) await api.call('GET', path).catch(unlessForbidden);
    return [];
  }
}

/** Whoever may list rules need not be permitted to read the destination. */
function unlessForbidden(error: unknown): void {
  if (!(error instanceof Refused) || error.status !== 403) throw error;
}

/** Reads rules, a few at a time. */
async function readAll({ api }: Context, destination: string, names: readonly string[]): Promise<Rule[]> {
  const rules: Rule[] = [];
  for (let from = 0; from < names.length; from += concurrentReads) {
    const part = names.slice(from, from + concurrentReads);
    const answers = part.map((name) => api.call<Rule>('GET', rulePath(destination, name)));
    rules.push(...(await Promise.all(answers)).map(({ data }) => data));
  }
  return rules;
}

const isFine = ({ error, refused }: Rule): boolean => error === null && refused === 0;

/** Prints the rules of a destination with their progress. False if one has an error, or has refused a secret. */
export async function listRules(context: Context, destination: string): Promise<Verdict> {
  const rules: Rule[] = [];
  for await (const names of namePages(context, destination))
    rules.push(...(await readAll(context, destination, names)));
  context.output.rows(rules, ruleColumns);
  if (rules.length === 0) context.output.note('there are no rules');
  return rules.every(isFine);
}

/** Prints a rule, its progress, and the first secrets that it could not associate. False if there are any, or an error. */
export async function getRule(context: Context, destination: string, name: string): Promise<Verdict> {
  const { data } = await context.api.call<Rule>('GET', rulePath(destination, name));
  context.output.object(data, ruleText(data));
  return isFine(data);
}

/** Creates or replaces a rule, and prints it. False if it can associate nothing. */
export async function writeRule(
  context: Context,
  destination: string,
  name: string,
  fields: RuleFields & { confirm?: string },
): Promise<Verdict> {
  const { data } = await context.api.call<Rule>('POST', rulePath(destination, name), fields);
  context.output.object(data, ruleText(data));
  context.output.note('secrets are associated in the background: see `rules get`');
  return data.error === null;
}

/**
 * Prints what a write of a rule would do: secrets with their external names, the associations that would end, and at last the
 * numbers with the fingerprint that a write may need. False if a secret would be refused, or an association would end.
 */
export async function planRule(
  context: Context,
  destination: string,
  name: string,
  request: RuleFields & { look: boolean },
): Promise<Verdict> {
  const path = `${rulePath(destination, name)}/plan`;
  let totals: PlanTotals | undefined;
  let refused = 0;
  for await (const page of planPages<PlanPage>(context, path, request)) {
    totals ??= page as PlanPage & PlanTotals;
    if (page.error !== null) throw new Error(page.error);
    context.output.rows(page.secrets, context.output.format === 'json' ? [] : planColumns(request.mount));
    refused += page.secrets.filter(({ accepted }) => !accepted).length;
  }
  const ends = (totals?.to_release ?? 0) > 0;
  if (ends)
    for await (const { released } of planPages<ReleasePage>(context, path, { ...request, released: true }))
      context.output.rows(released, releaseColumns);
  if (totals !== undefined) context.output.note(totalsText(totals));
  return refused === 0 && !ends;
}

async function* planPages<Page extends { next?: string }>(
  { api }: Context,
  path: string,
  request: object,
): AsyncGenerator<Page> {
  let after: string | undefined;
  do {
    const { data } = await api.call<Page>('POST', path, { ...request, ...(after && { after }) });
    yield data;
    after = data.next;
  } while (after !== undefined);
}

/** Deletes a rule. Its associations end, unless something else holds them or they are kept. */
export async function deleteRule(
  { api, output }: Context,
  destination: string,
  name: string,
  { keep }: { keep: boolean },
): Promise<Verdict> {
  await api.call('DELETE', `${rulePath(destination, name)}${queryOf({ keep: keep ? 'true' : undefined })}`);
  output.note(
    keep
      ? 'the rule is being deleted: what it has associated is then held by hand'
      : 'the rule is being deleted, with the associations that nothing else holds',
  );
  return true;
}
