import type { Json } from '@secrets/domain';
import { fieldNamesOf, otherFieldNames } from '../../paths/path-rules.ts';
import { Comparisons } from './comparisons.ts';
import { isDenied, isListed } from './parameter-values.ts';
import type { PathRule } from './policy-rules.ts';

/** Rules on the parameters that a request may and must have (docs/conventions/access.md#restricted-parameters). */
export interface ParameterRules {
  /** By name in lower case, with `*` for all others; undefined if any parameter is allowed. An empty list means any value. */
  readonly allowed: Values | undefined;
  readonly denied: Values | undefined;
  /** In lower case. */
  readonly required: readonly string[];
}

type Values = ReadonlyMap<string, readonly Json[]>;

/** The restrictions of one rule; undefined if it has none. */
export function parameterRulesOf(rule: PathRule): ParameterRules | undefined {
  const { allowed_parameters: allowed, denied_parameters: denied, required_parameters: required = [] } = rule;
  if (allowed === undefined && denied === undefined && required.length === 0) return undefined;
  return { allowed: byName(allowed), denied: byName(denied), required: required.map(lowerCase) };
}

const lowerCase = (name: string): string => name.toLowerCase();

function byName(given: Readonly<Record<string, readonly Json[]>> = {}): Values | undefined {
  const [first, ...rest] = Object.entries(given).map(
    ([name, list]): Values => new Map([[lowerCase(name), list]]),
  );
  return first && rest.reduce(mergedValues, first);
}

/** The number of values in restrictions: merging these takes time in proportion to it. */
export const sizeOfRules = ({ allowed, denied, required }: ParameterRules): number =>
  [...(allowed?.values() ?? []), ...(denied?.values() ?? [])].reduce(
    (sum, values) => sum + 1 + values.length,
    required.length,
  );

/** The restrictions of two rules with the same pattern. A rule without restrictions adds nothing. */
export function mergedParameterRules(
  a: ParameterRules | undefined,
  b: ParameterRules | undefined,
): ParameterRules | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    allowed: a.allowed && b.allowed ? mergedValues(a.allowed, b.allowed) : (a.allowed ?? b.allowed),
    denied: a.denied && b.denied ? mergedValues(a.denied, b.denied) : (a.denied ?? b.denied),
    required: [...new Set([...a.required, ...b.required])],
  };
}

/** All names of both. A name of both has the values of both; any value, if one of them has an empty list. */
function mergedValues(a: Values, b: Values): Values {
  const merged = new Map(a);
  for (const [name, values] of b) {
    const known = merged.get(name);
    const isAny = values.length === 0 || known?.length === 0;
    merged.set(name, isAny ? [] : [...(known ?? []), ...values]);
  }
  return merged;
}

export interface RequestParameters {
  /** Decoded, relative to the namespace of the request. */
  path: string;
  /** Of a write: the fields of its body. */
  body: Readonly<Record<string, Json>>;
  /** The query, in which some writes have options. */
  query: readonly (readonly [name: string, value: string])[];
  isRead: boolean;
}

/**
 * Whether a request may have these parameters.
 * @throws a problem (`invalid`) if they have too many values to be compared
 */
export const permits = (
  rules: ParameterRules,
  parameters: RequestParameters,
  comparisons = new Comparisons(),
): boolean =>
  hasRequired(rules, parameters) &&
  !hasDenied(rules, parameters, comparisons) &&
  hasOnlyAllowed(rules, parameters, comparisons);

/** The names are compared as the services do: another letter case is another field, which they ignore. So is null. */
function hasRequired(
  { required }: ParameterRules,
  { path, body, query, isRead }: RequestParameters,
): boolean {
  const given = (isRead ? query : Object.entries(body)).filter(([, value]) => value !== null);
  const names = new Set(given.map(([name]) => name));
  return required.every(
    (name) => names.has(name) || namesReadFor(path, name).some((other) => names.has(other)),
  );
}

function hasDenied(
  { denied }: ParameterRules,
  { body, query }: RequestParameters,
  comparisons: Comparisons,
): boolean {
  if (denied === undefined) return false;
  const given = [...Object.entries(body), ...query];
  if (denied.has('*')) return given.length > 0;
  return [...given, ...settingsIn(body)].some(([name, value]) => {
    const values = valuesOf(denied, name);
    return values !== undefined && isDenied(values, value, comparisons);
  });
}

function hasOnlyAllowed(
  { allowed }: ParameterRules,
  { body, query }: RequestParameters,
  comparisons: Comparisons,
): boolean {
  if (allowed === undefined) return true;
  const isAllowed = ([name, value]: readonly [string, Json], otherwise: boolean) => {
    const values = valuesOf(allowed, name);
    return values === undefined ? otherwise : isListed(values, value, comparisons);
  };
  const others = allowed.has('*');
  const given = [...Object.entries(body), ...query];
  return (
    given.every((parameter) => isAllowed(parameter, others)) &&
    settingsIn(body).every((setting) => isAllowed(setting, true))
  );
}

/** Settings of a mount are accepted at the top level and in `config`. */
function settingsIn({ config }: RequestParameters['body']): [string, Json][] {
  return typeof config === 'object' && config !== null && !Array.isArray(config)
    ? Object.entries(config)
    : [];
}

const valuesOf = (values: Values, name: string): readonly Json[] | undefined =>
  [lowerCase(name), ...otherNamesOf(lowerCase(name))]
    .map((one) => values.get(one))
    .find((list) => list !== undefined);

/**
 * The other names by which some request may send a field. The fields of roles about their tokens may have the prefix
 * `token_` or not.
 */
function otherNamesOf(name: string): string[] {
  const prefixed = name.startsWith(prefix) ? name.slice(prefix.length) : prefix + name;
  return [...new Set([...(pairsWith.get(name) ?? []), prefixed])].filter((other) => other !== name);
}

/** All names in the pairs that a name is part of. */
const pairsWith: ReadonlyMap<string, readonly string[]> = new Map(
  [...new Set(otherFieldNames.flat())].map((name) => [
    name,
    otherFieldNames.filter((pair) => pair.includes(name)).flat(),
  ]),
);

const prefix = 'token_';

/** The other names by which the requests of a path may send a field. Elsewhere, a field of this name would be ignored. */
const namesReadFor = (path: string, name: string): string[] =>
  fieldNamesOf(path)
    .filter((pair) => pair.includes(name))
    .flat();
