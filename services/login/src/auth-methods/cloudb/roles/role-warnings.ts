import { admitsNoLogin, bindsPrincipals, type RoleBounds, specific } from '../decision/role-bounds.ts';
import {
  anyOf,
  type BoundField,
  boundFields,
  bounds,
  grammarOf,
  insufficientFields,
  namedBy,
  placeFields,
  principalFields,
  sufficientFields,
} from './bound-fields.ts';

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
  `${field}: contains a value that is not ${grammarOf(field)!.what}, so it never matches`;

function hasMisfit(role: RoleBounds, field: BoundField): boolean {
  const grammar = grammarOf(field);
  return grammar !== undefined && specific(role[field]).some((value) => !grammar.expression.test(value));
}

function breadthWarnings(
  role: RoleBounds,
  { requirePrincipalBinding }: { requirePrincipalBinding: boolean },
): string[] {
  if (admitsNoLogin(role))
    return [
      `the role admits nobody: * and ${anyOf(insufficientFields)} alone do not count; name a ${namedBy(sufficientFields)}`,
    ];
  if (bindsPrincipals(role)) return [];
  if (requirePrincipalBinding)
    return [
      `the role admits nobody: the mount's require_principal_binding demands ${anyOf(principalFields)}`,
    ];
  return [`the role admits every managed identity ${reach(role)}`];
}

/** Where the principals of a role may run, in words. */
function reach(role: RoleBounds): string {
  const bound = placeFields.filter((field) => specific(role[field]).length > 0);
  const within = bound.map((field) => `one of the ${bounds[field].noun}s in ${field}`).join(' and ');
  const anywhere = bound.includes('bound_subscription_ids')
    ? ''
    : ", in any subscription that the mount's credentials can read";
  return `that proves to run in ${within}${anywhere}`;
}
