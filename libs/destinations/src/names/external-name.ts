import { invalid } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import { evaluateTemplate } from './template/evaluate-template.ts';
import type { NameVariables } from './template/name-variables.ts';
import { parseTemplate } from './template/parse-template.ts';
import { TemplateError } from './template/template-error.ts';

/** What a name is made from. */
export interface NameContext {
  /** The destination's own template; undefined or empty for the type's default. */
  template?: string | undefined;
  variables: NameVariables;
  /** The installation's prefix, in lower case; stands in default names. */
  prefix: string;
}

/**
 * The name of one external secret. The default template's outcome is normalised to what the destination allows; a
 * template of the user's own must give an allowed name by itself. Throws `Problem` `invalid` with the reason when the
 * name cannot be used; the name is shown, as it holds paths and keys and no values.
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
