import {
  admitsNoLogin,
  bindsPrincipals,
  placeFields,
  places,
  type RoleBounds,
  specific,
} from '../decision/role-bounds.ts';
import { type BoundField, boundFields } from './role-settings.ts';

interface Grammar {
  expression: RegExp;
  what: string;
}

/** The provider's grammar of the values of each bound; any other value never matches. Null where any text may match. */
const grammars: Record<BoundField, Grammar | null> = {
  bound_service_principal_ids: null,
  bound_group_ids: null,
  bound_locations: null,
  bound_subscription_ids: {
    expression: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
    what: 'a subscription ID',
  },
  bound_resource_groups: { expression: /^[^/]+$/, what: 'the name of a resource group' },
  bound_scale_sets: { expression: /^[A-Za-z0-9][A-Za-z0-9._-]*$/, what: 'the name of a scale set' },
};

/** Sentences about what a role admits that its author may not expect (docs/conventions/cloudb.md#roles). */
export function roleWarnings(role: RoleBounds, settings: { requirePrincipalBinding: boolean }): string[] {
  return [
    ...boundFields.filter((field) => role[field].includes('*')).map(wildcardWarning),
    ...boundFields.filter((field) => hasMisfit(role, field)).map(misfitWarning),
    ...breadthWarnings(role, settings),
  ];
}

const wildcardWarning = (field: BoundField): string => `${field}: contains *, so it counts as absent`;

const misfitWarning = (field: BoundField): string =>
  `${field}: contains a value that is not ${grammars[field]!.what}, so it never matches`;

function hasMisfit(role: RoleBounds, field: BoundField): boolean {
  const grammar = grammars[field];
  return grammar !== null && specific(role[field]).some((value) => !grammar.expression.test(value));
}

function breadthWarnings(
  role: RoleBounds,
  { requirePrincipalBinding }: { requirePrincipalBinding: boolean },
): string[] {
  if (admitsNoLogin(role))
    return [
      'the role admits nobody: * and bound_locations alone do not count; name a service principal, group, subscription, resource group or scale set',
    ];
  if (bindsPrincipals(role)) return [];
  if (requirePrincipalBinding)
    return [
      "the role admits nobody: the mount's require_principal_binding demands bound_service_principal_ids or bound_group_ids",
    ];
  return [`the role admits every managed identity ${reach(role)}`];
}

/** Where the principals of a role may run, in words. */
function reach(role: RoleBounds): string {
  const bound = placeFields.filter((field) => specific(role[field]).length > 0);
  const within = bound.map((field) => `one of the ${places[field]}s in ${field}`).join(' and ');
  const anywhere = bound.includes('bound_subscription_ids')
    ? ''
    : ", in any subscription that the mount's credentials can read";
  return `that proves to run in ${within}${anywhere}`;
}
