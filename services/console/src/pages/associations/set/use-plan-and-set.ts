import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Api, dataOf } from '../../../api/client.ts';
import { textOf } from '../../../api/optional.ts';
import { useApi } from '../../../session/session.ts';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import type { SecretRef } from '../association-api.ts';

const readPlan = async (api: Api, path: DestinationRef, body: SecretRef) =>
  dataOf(
    await api.POST('/v1/sys/sync/destinations/{type}/{name}/associations/plan', { params: { path }, body }),
  );

/** The effects that setting an association would have (docs/conventions/sync-operation.md#check-and-plan). */
export type Plan = Awaited<ReturnType<typeof readPlan>>;

/** An external secret of a plan. Only a request with a list has a response without them. */
export type Planned = NonNullable<Plan['external_secrets']>[number];

/** Sets the association, and waits up to 5 s for the status of its external secrets. */
async function setAssociation(api: Api, path: DestinationRef, body: SecretRef) {
  const answer = await api.POST('/v1/sys/sync/destinations/{type}/{name}/associations/set', {
    params: { path },
    body,
  });
  return Object.values(dataOf(answer).associated_secrets ?? {}).map((object) => ({
    name: object.external_name,
    status: object.sync_status,
    error: textOf(object.last_error) ?? '',
  }));
}

/** The two steps of associating a secret. */
export function usePlanAndSet(destination: DestinationRef, secret: SecretRef) {
  const api = useApi();
  const queries = useQueryClient();
  const plan = useMutation({ mutationFn: () => readPlan(api, destination, secret) });
  const set = useMutation({
    mutationFn: () => setAssociation(api, destination, secret),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sync'] }),
  });
  const clear = () => {
    plan.reset();
    set.reset();
  };
  return { plan, set, clear };
}
