import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { type Api, ifPresent } from '../../../api/client.ts';
import { ApiProblem, Refusal } from '../../../api/problem.ts';
import { useApi } from '../../../session/session.ts';
import { type Rule, type RuleRef, ruleAddress } from '../rule-api.ts';
import type { PlanPage } from '../rule-plan.ts';
import { metadataPatch, type RuleFields } from './rule-values.ts';

const path = '/v1/sys/sync/destinations/{type}/{name}/rules/{rule}';

interface SaveRule {
  fields: RuleFields;
  /** The plan that the user has seen. */
  plan: PlanPage | undefined;
}

/** Saves a rule, with the fingerprint of its plan if the service asks for it, and opens its page. */
export function useSaveRule(ref: RuleRef, stored: Rule | undefined) {
  const api = useApi();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: async ({ fields, plan }: SaveRule) => {
      const confirm = plan?.needs_confirm && plan.fingerprint ? { confirm: plan.fingerprint } : {};
      const params = { path: ref };
      if (stored === undefined) {
        await requireNew(api, ref);
        await api.POST(path, { params, body: { ...fields, ...confirm } });
      } else {
        const metadata = metadataPatch(stored.metadata_match, fields.metadata_match);
        const body = { ...fields, metadata_match: metadata, ...confirm };
        await api.PATCH(path, { params, body });
      }
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sync', 'rules'] });
      navigate(ruleAddress(ref));
    },
  });
}

/** The request that creates a rule would replace one that exists. Without the right to read it, the service decides. */
async function requireNew(api: Api, ref: RuleRef): Promise<void> {
  const existing = await ifPresent(api.GET(path, { params: { path: ref } })).catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 403) return undefined;
    throw error;
  });
  if (existing !== undefined) throw new Refusal(`There already is a rule ${ref.rule} of this destination.`);
}
