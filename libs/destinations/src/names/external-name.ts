import { invalid } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import { evaluateTemplate } from './template/evaluate-template.ts';
import type { NameVariables } from './template/name-variables.ts';
import { parseTemplate } from './template/parse-template.ts';
import { TemplateError } from './template/template-error.ts';

/** What a name is built from. */
export interface NameContext {
  /** The destination's own template. If undefined or empty, the type's default is used. */
  template?: string | undefined;
  variables: NameVariables;
  /** The installation's prefix, in lower case; part of default names. */
  prefix: string;
}

/**
 * Returns the name of one external secret. The result of the default template is normalised to a valid name; that of a
 * user's own template must be valid as it is. Throws `Problem` `invalid` with the name and the reason if it is not:
 * names contain paths and keys, but no values.
 */
export function externalName(description: DestinationDescription, context: NameContext): string {
  const name = evaluated(description, context);
  const refusal = description.nameRule.check(name);
  if (refusal === undefined) return name;
  throw invalid(`the external name ${JSON.stringify(name)} cannot be used: it ${refusal}`);
}

function evaluated(
  { nameRule }: DestinationDescription,
  { template, variables, prefix }: NameContext,
): string {
  const granularity = variables.SecretKey === undefined ? 'secret-path' : 'secret-key';
  const ownTemplate = template === undefined || template === '' ? undefined : template;
  const text = ownTemplate ?? nameRule.defaultTemplate(prefix, granularity);
  try {
    const name = evaluateTemplate(parseTemplate(text), variables);
    return ownTemplate === undefined ? nameRule.normalise(name) : name;
  } catch (error) {
    if (error instanceof TemplateError) throw invalid(`secret_name_template: ${error.message}`);
    throw error;
  }
}
