import { useQuery } from '@tanstack/react-query';
import { type Api, dataOf } from '../../api/client.ts';
import { useApi } from '../../session/session.ts';
import type { RuleRef } from './rule-api.ts';
import type { RuleFields } from './write/rule-values.ts';

/** The numbers of a plan (docs/conventions/rules.md#plan). */
export interface PlanTotals {
  matched: number;
  to_associate: number;
  to_hold: number;
  to_release: number;
  /** Whether all secrets were counted. */
  complete: boolean;
  needs_confirm: boolean;
  fingerprint: string;
}

/** A secret of a plan, with its external secrets and the reasons that prevent them. */
export interface PlannedMatch {
  secret_name: string;
  change: string;
  accepted: boolean;
  problems: string[];
  external_secrets: { sub_key: string; external_name: string; change: string; problems: string[] }[];
}

/** A page of a plan. The first one has the numbers. */
export interface PlanPage extends Partial<PlanTotals> {
  error: string | null;
  secrets: PlannedMatch[];
  next?: string;
}

const pageSize = 20;

async function readPlanPage(api: Api, path: RuleRef, body: object): Promise<PlanPage> {
  const answer = await api.POST('/v1/sys/sync/destinations/{type}/{name}/rules/{rule}/plan', {
    params: { path },
    body: { limit: pageSize, ...body } as never,
  });
  return dataOf(answer) as unknown as PlanPage;
}

/** Reads the numbers of what a POST of these fields would do. */
export async function readTotals(api: Api, ref: RuleRef, fields: RuleFields): Promise<PlanTotals> {
  const page = await readPlanPage(api, ref, fields);
  return page as PlanPage & PlanTotals;
}

/** A page of what saving a rule with these fields would do. Nothing is read without fields. */
export function usePlan(ref: RuleRef, fields: RuleFields | undefined, after?: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['rule-plan', ref, fields, after],
    queryFn: () => readPlanPage(api, ref, { ...fields, ...(after && { after }) }),
    placeholderData: (previous) => (after === undefined ? undefined : previous),
    enabled: fields !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
}

/** A page of the secrets whose associations would end. */
export function useReleases(ref: RuleRef, fields: RuleFields, after?: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['rule-plan', 'released', ref, fields, after],
    queryFn: async () => {
      const page = await readPlanPage(api, ref, { ...fields, released: true, ...(after && { after }) });
      return page as unknown as { released: { mount: string; secret_name: string }[]; next?: string };
    },
    placeholderData: (previous) => previous,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}
