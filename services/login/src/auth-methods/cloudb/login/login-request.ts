import { emptyOr } from '@secrets/domain';
import { z } from 'zod';
import { loginFields } from '../../roles/login-fields.ts';
import { parseResourceId } from '../resource-names/resource-id.ts';

export const guid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** For the description of the API, which leaves out letters and digits other than those of ASCII. */
export const asciiResourceGroup = /^[A-Za-z0-9_.()-]{0,89}[A-Za-z0-9_()-]$/;
export const resourceGroup = /^[\p{L}\p{N}\-_.()]{0,89}[\p{L}\p{N}\-_()]$/u;
const machine = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
const resourceType = /^[A-Za-z0-9.]{1,128}(?:\/[A-Za-z0-9]{1,128})+$/;
const resourceName = /^[A-Za-z0-9._()-]{1,260}$/;

const unsafe = /(?:^|\/)\.{1,2}(?:\/|$)/;
export const name = (expression: RegExp, what: string, described = expression) =>
  z
    .string()
    .refine((value) => value === '' || (expression.test(value) && !unsafe.test(value)), {
      error: `is not ${what}`,
    })
    .transform((value) => (value === '' ? undefined : value))
    .meta({ pattern: emptyOr(described) })
    .optional();

const resourceIdPattern =
  '^(?:/subscriptions/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/resourceGroups/[A-Za-z0-9_()-]{1,90}' +
  '/providers/[A-Za-z][A-Za-z0-9]{1,30}\\.[A-Za-z0-9]{1,30}/[A-Za-z0-9]{1,30}/[A-Za-z0-9_()-]{1,80})?$';

/**
 * The body of a login (docs/conventions/cloudb.md#login-request). Each field follows the provider's grammar, so that nothing
 * else can enter a URL. An empty string is the same as an absent field.
 */
export const LoginRequest = z.object({
  ...loginFields,
  subscription_id: name(guid, 'a subscription ID'),
  resource_group_name: name(resourceGroup, 'the name of a resource group', asciiResourceGroup),
  vm_name: name(machine, 'the name of a virtual machine'),
  vmss_name: name(machine, 'the name of a scale set'),
  resource_id: z
    .string()
    .refine((text) => text === '' || isResourceId(text), { error: 'is not a resource ID' })
    .transform((text) => (text === '' ? undefined : text))
    .meta({ pattern: resourceIdPattern })
    .optional(),
});
export type LoginRequest = z.infer<typeof LoginRequest>;

function isResourceId(text: string): boolean {
  const id = parseResourceId(text);
  return (
    id !== undefined &&
    guid.test(id.subscriptionId) &&
    resourceGroup.test(id.resourceGroup) &&
    resourceType.test(id.type) &&
    id.names.every((part) => resourceName.test(part))
  );
}
