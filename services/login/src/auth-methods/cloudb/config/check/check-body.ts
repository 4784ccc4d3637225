import { invalid } from '@secrets/domain';
import { z } from 'zod';
import { asciiResourceGroup, guid, name, resourceGroup } from '../../login/login-request.ts';
import type { LookupScope } from './check-permissions.ts';

/** The body of `auth/<mount>/config/check`: where the permissions are checked. */
export const CheckBody = z.object({
  subscription_id: name(guid, 'a subscription ID'),
  resource_group_name: name(resourceGroup, 'the name of a resource group', asciiResourceGroup),
});

/** Throws `invalid` if only one of the fields is present. */
export function scopeOf({
  subscription_id,
  resource_group_name,
}: z.infer<typeof CheckBody>): LookupScope | undefined {
  if (subscription_id === undefined && resource_group_name === undefined) return undefined;
  if (subscription_id === undefined || resource_group_name === undefined)
    throw invalid('subscription_id and resource_group_name must be given together');
  return { subscriptionId: subscription_id, resourceGroup: resource_group_name };
}
