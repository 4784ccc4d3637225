import { setting, storedSettings, withoutNul } from '@secrets/domain';
import { stringList, withOtherNames } from '@secrets/http';
import { z } from 'zod';
import { inUsualOrder } from '../../../tokens/token-fields.ts';
import { roleTokenFields } from '../../roles/role-tokens.ts';

const maxNames = 500;

/** Names of objects in a cluster are in lower case (RFC 1123); `*` matches any text within one. */
const namePattern = /^[a-z0-9*.-]{1,253}$/;

const names = stringList
  .refine((list) => list.length <= maxNames, { error: `must have at most ${maxNames} names`, abort: true })
  .refine((list) => list.every((name) => namePattern.test(name)), {
    error: 'must be names in lower case, of letters, digits, - and ., in which * matches any text',
  })
  .meta({
    type: 'array',
    maxItems: maxNames,
    items: { type: 'string', pattern: '^[a-z0-9]{1,20}$' },
  });

const audience = z.string().trim().max(2_048).meta(withoutNul);

/** Where the name of the entity is from. */
const aliasSources = ['serviceaccount_uid', 'serviceaccount_name'] as const;

/** The fields of a role (docs/conventions/kubernetes.md#roles). */
export const kubernetesRoleFields = storedSettings({
  bound_service_account_names: setting(names, {
    default: [],
    help: 'names of service accounts that may log in; `*` matches any text (required)',
  }),
  bound_service_account_namespaces: setting(names, {
    default: [],
    help: 'the namespaces that they may be in, in the same form (required)',
  }),
  audience: setting(audience, { default: '', help: 'the audience that tokens must be for (required)' }),
  alias_name_source: setting(z.enum(aliasSources, { error: `must be ${aliasSources.join(' or ')}` }), {
    default: 'serviceaccount_uid',
    help: 'whether the entity is named by the ID of the service account, which another one of its name does not have, or by `<namespace>/<name>`',
  }),
  ...roleTokenFields,
});
export type KubernetesRole = ReturnType<typeof kubernetesRoleFields.read>;

/** The body of `auth/<mount>/role/<name>`: every field is optional, and older names of the token fields are accepted. */
export const KubernetesRoleBody = withOtherNames(
  kubernetesRoleFields.body,
  inUsualOrder(kubernetesRoleFields.otherNames),
);
export type KubernetesRoleBody = z.infer<typeof KubernetesRoleBody>;
