import { invalid } from '@secrets/domain';
import { z } from 'zod';

const guid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const resourceGroup = /^[\p{L}\p{N}\-_.()]{0,89}[\p{L}\p{N}\-_()]$/u;
const machine = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
const resourceId =
  /^\/subscriptions\/[0-9a-f-]{36}\/resourceGroups\/[\p{L}\p{N}\-_.()]{1,90}\/providers\/[A-Za-z0-9.]{1,128}(?:\/[A-Za-z0-9]{1,128}\/[A-Za-z0-9._()-]{1,260}){1,8}$/iu;

const unsafe = /(?:^|\/)\.{1,2}(?:\/|$)/;
const named = (expression: RegExp, what: string) =>
  z
    .string()
    .refine((value) => value === '' || (expression.test(value) && !unsafe.test(value)), {
      error: `is not ${what}`,
    })
    .transform((value) => (value === '' ? undefined : value))
    .optional();

/**
 * The body of a login (docs/conventions.md#33-login-request), in the grammar that each field has at the provider: nothing
 * else may enter a URL. An empty string is the same as an absent field.
 */
export const LoginRequest = z.object({
  role: z
    .string()
    .min(1, 'must not be empty')
    .max(256)
    .regex(/^\P{Cc}*$/u, 'must not hold control characters'),
  jwt: z.string().min(1, 'must not be empty'),
  subscription_id: named(guid, 'a subscription id'),
  resource_group_name: named(resourceGroup, 'the name of a resource group'),
  vm_name: named(machine, 'the name of a virtual machine'),
  vmss_name: named(machine, 'the name of a scale set'),
  resource_id: named(resourceId, 'a resource id'),
});
export type LoginRequest = z.infer<typeof LoginRequest>;

/** What a caller says it runs on; of several names the scale set comes first, then the machine. */
export interface NamedMachine {
  subscriptionId: string;
  resourceGroup: string;
  kind: 'scale-set' | 'virtual-machine' | 'resource';
  /** A name, or a resource id for `resource`. */
  name: string;
}

/** The machine that a login names, which roles that bind more than principals need (docs/conventions.md#33-login-request). Throws a problem (`invalid`) that names what is missing. */
export function namedMachine(request: LoginRequest): NamedMachine {
  if (request.subscription_id === undefined) throw invalid('subscription_id is required for this role');
  if (request.resource_group_name === undefined)
    throw invalid('resource_group_name is required for this role');
  const where = { subscriptionId: request.subscription_id, resourceGroup: request.resource_group_name };
  if (request.vmss_name !== undefined) return { ...where, kind: 'scale-set', name: request.vmss_name };
  if (request.vm_name !== undefined) return { ...where, kind: 'virtual-machine', name: request.vm_name };
  if (request.resource_id !== undefined) return { ...where, kind: 'resource', name: request.resource_id };
  throw invalid('vm_name, vmss_name or resource_id is required for this role');
}
