import { invalid } from '@secrets/domain';
import { z } from 'zod';

export const guid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
export const resourceGroup = /^[\p{L}\p{N}\-_.()]{0,89}[\p{L}\p{N}\-_()]$/u;
const machine = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
const resourceId =
  /^\/subscriptions\/[0-9a-f-]{36}\/resourceGroups\/[\p{L}\p{N}\-_.()]{1,90}\/providers\/[A-Za-z0-9.]{1,128}(?:\/[A-Za-z0-9]{1,128}\/[A-Za-z0-9._()-]{1,260}){1,8}$/iu;

const unsafe = /(?:^|\/)\.{1,2}(?:\/|$)/;
export const name = (expression: RegExp, what: string) =>
  z
    .string()
    .refine((value) => value === '' || (expression.test(value) && !unsafe.test(value)), {
      error: `is not ${what}`,
    })
    .transform((value) => (value === '' ? undefined : value))
    .optional();

/**
 * The body of a login (docs/conventions.md#33-login-request). Each field follows the provider's grammar, so that nothing
 * else can enter a URL. An empty string is the same as an absent field.
 */
export const LoginRequest = z.object({
  role: z
    .string()
    .min(1, 'must not be empty')
    .max(256)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
  jwt: z.string().min(1, 'must not be empty'),
  subscription_id: name(guid, 'a subscription ID'),
  resource_group_name: name(resourceGroup, 'the name of a resource group'),
  vm_name: name(machine, 'the name of a virtual machine'),
  vmss_name: name(machine, 'the name of a scale set'),
  resource_id: name(resourceId, 'a resource ID'),
});
export type LoginRequest = z.infer<typeof LoginRequest>;

/**
 * Throws `invalid` with the missing field, unless a request names the machine that a role with bounds on more than
 * principals needs (docs/conventions.md#33-login-request).
 */
export function requireMachine(request: LoginRequest): void {
  if (request.subscription_id === undefined) throw invalid('subscription_id is required for this role');
  if (request.resource_group_name === undefined)
    throw invalid('resource_group_name is required for this role');
  if ((request.vmss_name ?? request.vm_name ?? request.resource_id) === undefined)
    throw invalid('vm_name, vmss_name or resource_id is required for this role');
}
