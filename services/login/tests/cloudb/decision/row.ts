import type { PlaceRequest } from '../../../src/auth-methods/cloudb/decision/named-place.ts';
import type { RoleBody } from '../../../src/auth-methods/cloudb/roles/role-settings.ts';
import { type MachineAnswers, machineId, subscription, type TokenClaims } from './world.ts';

/** A login and its outcome. */
export interface Row {
  /** Completes the sentence "a login …". */
  name: string;
  role: RoleBody;
  token: TokenClaims;
  request: PlaceRequest;
  requirePrincipalBinding?: boolean;
  /** Default: complete. */
  machines?: MachineAnswers;
  /** Part of the reason; absent if the login succeeds. */
  refused?: string;
  /** What was proven, if the login succeeds. Other fields are undefined. */
  place?: Record<string, string>;
}

export const inGroup = { subscription_id: subscription, resource_group_name: 'rg' };
export const machine = (name: string): PlaceRequest => ({ ...inGroup, vm_name: name });
export const set = (name: string): PlaceRequest => ({ ...inGroup, vmss_name: name });
export const other = (id: string): PlaceRequest => ({ ...inGroup, resource_id: id });

export const web1 = machineId('web-1');
export const flexible = machineId('flex_a1b2c3d4');

export const inRg: RoleBody = { bound_subscription_ids: [subscription], bound_resource_groups: ['rg'] };
export const inSubscription = { bound_subscription_ids: [subscription] };
export const proves = 'is not what the token proves';
export const notAssigned = 'is not an identity of the named';
export const whereItRuns = 'does not prove where it runs';
