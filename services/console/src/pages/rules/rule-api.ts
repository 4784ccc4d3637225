import { useQueries, useQuery } from '@tanstack/react-query';
import { type Api, dataOf, ifPresent } from '../../api/client.ts';
import { useRefreshMs } from '../../live/live-updates.tsx';
import { useApi } from '../../session/session.ts';
import { type DestinationRef, destinationAddress, destinationPath } from '../destinations/destination-api.ts';

/** A rule of a destination. */
export interface RuleRef extends DestinationRef {
  rule: string;
}

/** Below `/v1/`; further segments are appended with slashes. */
export const rulePath = ({ rule, ...destination }: RuleRef, ...more: string[]): string =>
  destinationPath(destination, 'rules', rule, ...more);

/** The address of the list of rules of a destination. */
export const rulesAddress = (destination: DestinationRef): string => destinationAddress(destination, 'rules');

/** The address of the page of a rule, or of one below it. */
export const ruleAddress = ({ rule, ...destination }: RuleRef, ...more: string[]): string =>
  destinationAddress(destination, 'rules', encodeURIComponent(rule), ...more);

/** The address of the form for a new rule. */
export const newRuleAddress = (destination: DestinationRef): string =>
  destinationAddress(destination, 'new-rule');

const readRule = async (api: Api, path: RuleRef): Promise<Rule> => {
  const answer = await api.GET('/v1/sys/sync/destinations/{type}/{name}/rules/{rule}', { params: { path } });
  return dataOf(answer) as unknown as Rule;
};

/** A rule as responses contain it, with its progress (docs/conventions/rules.md#progress). */
export interface Rule {
  name: string;
  mount: string;
  path: string;
  exclude: string[];
  metadata_match: Record<string, string>;
  owner: { type: string; entity_id: string | null; display_name: string; since: string | null };
  state: string;
  matched: number | null;
  associated: number;
  refused: number;
  refusals: Refusal[];
  error: string | null;
  last_run_at: string | null;
  updated_at: string;
}

/** A secret that a rule could not associate. */
export interface Refusal {
  secret_name: string;
  reason: string;
  refused_at: string;
}

const progressMs = 2_000;

/** A rule that is being carried out is read again soon: no event announces each page of it. */
const queryOf = (api: Api, ref: RuleRef, refreshMs: number) => ({
  queryKey: ['sync', 'rules', ref.type, ref.name, 'one', ref.rule],
  queryFn: () => readRule(api, ref),
  refetchInterval: ({ state }: { state: { status: string; data: Rule | undefined } }) => {
    if (state.status === 'error') return false;
    return state.data !== undefined && state.data.state !== 'up_to_date' ? progressMs : refreshMs;
  },
});

/** Reads a rule, and its progress again and again. */
export function useRule(ref: RuleRef, enabled: boolean) {
  const api = useApi();
  return useQuery({ ...queryOf(api, ref, useRefreshMs()), enabled });
}

/** Reads several rules of a destination. */
export function useRules(destination: DestinationRef, names: readonly string[]) {
  const api = useApi();
  const refreshMs = useRefreshMs();
  return useQueries({ queries: names.map((rule) => queryOf(api, { ...destination, rule }, refreshMs)) });
}

const pageSize = 20;

/** A page of the names of the rules of a destination. */
export function useRuleNames(destination: DestinationRef, after: string | undefined) {
  const api = useApi();
  const { type, name } = destination;
  return useQuery({
    queryKey: ['sync', 'rules', type, name, 'names', after],
    queryFn: () => readNames(api, destination, after),
    placeholderData: (previous) => previous,
    refetchInterval: useRefreshMs(),
  });
}

/** One more than a page is read, to know whether there is a next one. */
async function readNames(api: Api, path: DestinationRef, after = '') {
  const query = { list: 'true' as const, limit: pageSize + 1, ...(after && { after }) };
  const answer = await ifPresent(
    api.GET('/v1/sys/sync/destinations/{type}/{name}/rules', { params: { path, query } }),
  );
  const keys = answer === undefined ? [] : dataOf(answer).keys;
  const names = keys.slice(0, pageSize);
  return { names, next: keys.length > pageSize ? names.at(-1) : undefined };
}
