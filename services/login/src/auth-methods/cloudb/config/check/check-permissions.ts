import type { ResourceApi } from '../../provider/resources/resource-api.ts';
import { attempt, notChecked, type Outcome } from './check-steps.ts';

/** A resource group of a subscription. */
export interface LookupScope {
  subscriptionId: string;
  resourceGroup: string;
}

/** Nothing has this name. The API checks the permission first, so that its answer shows whether that suffices. */
const probe = 'secrets-service-check';

/** Whether machines and scale sets may be read in each resource group. */
export const checkLookups = (api: ResourceApi, scopes: readonly LookupScope[]): Promise<Outcome<void>> =>
  eachScope(scopes, async (scope) => {
    await Promise.all([api.machine({ ...scope, name: probe }), api.scaleSet({ ...scope, name: probe })]);
  });

/** Whether user-assigned identities may be read in each resource group. */
export const checkIdentities = (api: ResourceApi, scopes: readonly LookupScope[]): Promise<Outcome<void>> =>
  eachScope(scopes, async (scope) => {
    await api.identity({ ...scope, name: probe });
  });

async function eachScope(
  scopes: readonly LookupScope[],
  check: (scope: LookupScope) => Promise<void>,
): Promise<Outcome<void>> {
  if (scopes.length === 0)
    return notChecked(
      'no role binds a subscription; send subscription_id and resource_group_name to check a resource group',
    );
  return attempt(async () => {
    await Promise.all(scopes.map(check));
  });
}
