import { guidFrom } from '../../directory/identity.ts';
import type { ResourceSpec } from './resource.ts';
import {
  flexibleInstance,
  flexibleScaleSet,
  type ResourceGroup,
  uniformScaleSet,
  userAssignedIdentity,
  virtualMachine,
  webSite,
} from './resource-specs.ts';

/** The resource group of the default resources. */
export const defaultGroup = (seed: string): ResourceGroup => ({
  subscriptionId: guidFrom(`subscription ${seed}`),
  resourceGroup: 'sandbox',
});

/**
 * The default resources: a machine and a web site with identities of their own, and two scale sets that share a
 * user-assigned identity. One of them is uniform, the other one is flexible and has an instance.
 */
export function defaultResources(seed: string): ResourceSpec[] {
  const group = defaultGroup(seed);
  const principalOf = (name: string) => ({
    principalId: guidFrom(`oid ${name} ${seed}`),
    clientId: guidFrom(`appid ${name} ${seed}`),
  });
  const identity = userAssignedIdentity(group, 'build-agent', {
    principal: { ...principalOf('build-agent'), groups: [guidFrom(`group builders ${seed}`)] },
  });
  const userAssigned = [identity.id];
  const workers = flexibleScaleSet(group, 'workers', { userAssigned });
  return [
    virtualMachine(group, 'web-1', { principal: principalOf('web-1') }),
    identity,
    uniformScaleSet(group, 'agents', { userAssigned }),
    workers,
    flexibleInstance(group, workers, '0f4c1d2e'),
    webSite(group, 'shop', { principal: principalOf('shop'), location: 'West US' }),
  ];
}
