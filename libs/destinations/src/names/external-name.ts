import { createHash } from 'node:crypto';
import { invalid } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import { evaluateTemplate } from './template/evaluate-template.ts';
import type { NameVariables } from './template/name-variables.ts';
import { parseTemplate } from './template/parse-template.ts';
import { TemplateError } from './template/template-error.ts';

/** Input from which an external name is built. */
export interface NameContext {
  /** The destination's own template. If undefined or empty, the type's default is used. */
  template?: string | undefined;
  variables: NameVariables;
  /** The installation's prefix, in lower case; part of default names. */
  prefix: string;
}

/**
 * Returns the name of one external secret. The result of the default template is normalised to a valid name, with a hash if
 * that replaces characters outside ASCII; in the result of a user's own template, only separators are replaced
 * (`separatorsReplaced`). Throws `Problem` `invalid` with the name and the reason if it is not valid then: names contain paths
 * and keys, but no values.
 */
export function externalName(description: DestinationDescription, context: NameContext): string {
  const name = evaluated(description, context);
  const refusal = description.nameRule.check(name);
  if (refusal === undefined) return name;
  throw invalid(`the external name ${JSON.stringify(name)} cannot be used: it ${refusal}`);
}

/**
 * Returns the default name that an earlier version gave to an external secret, if it is another one than now: it had no hash
 * for characters outside ASCII.
 */
export function formerName(
  { nameRule }: DestinationDescription,
  { template, variables, prefix }: NameContext,
): string | undefined {
  if (!isDefault(template) || !losesCharacters(variables)) return undefined;
  return nameRule.normalise(evaluate(nameRule.defaultTemplate(prefix, granularityOf(variables)), variables));
}

function evaluated(
  { nameRule }: DestinationDescription,
  { template, variables, prefix }: NameContext,
): string {
  if (!isDefault(template)) return separatorsReplaced(nameRule, evaluate(template, variables));
  const name = evaluate(nameRule.defaultTemplate(prefix, granularityOf(variables)), variables);
  return nameRule.normalise(losesCharacters(variables) ? `${name}-${hashOf(variables)}` : name);
}

/**
 * Replaces slashes, and underscores besides, as in default names, if a custom name would be valid without them: templates
 * are shared between types, and Vault's default of all types has slashes, and underscores in accessors
 * (https://developer.hashicorp.com/vault/docs/sync#name-template).
 */
export function separatorsReplaced(
  { check, normalise }: DestinationDescription['nameRule'],
  name: string,
): string {
  const isOnlyReason =
    name.includes('/') && check(name) !== undefined && check(name.replaceAll(/[/_]/g, 'a')) === undefined;
  return isOnlyReason ? normalise(name) : name;
}

const isDefault = (template: string | undefined): template is undefined | '' =>
  template === undefined || template === '';

const granularityOf = ({ SecretKey }: NameVariables) =>
  SecretKey === undefined ? 'secret-path' : 'secret-key';

/** The parts of a secret's name that default templates use. */
const partsOf = ({ SecretPath, SecretKey = '' }: NameVariables): string[] => [SecretPath, SecretKey];

/** Whether normalisation replaces letters, so that different words could get the same name. */
const losesCharacters = (variables: NameVariables): boolean =>
  partsOf(variables).some((part) => /[^\x20-\x7E]/u.test(part));

const hashOf = (variables: NameVariables): string =>
  createHash('sha256')
    .update(JSON.stringify(partsOf(variables)))
    .digest('hex')
    .slice(0, 16);

function evaluate(template: string, variables: NameVariables): string {
  try {
    return evaluateTemplate(parseTemplate(template), variables);
  } catch (error) {
    if (error instanceof TemplateError) throw invalid(`secret_name_template: ${error.message}`);
    throw error;
  }
}
