import { invalid } from '@secrets/domain';
import { evaluateTemplate } from './template/evaluate-template.ts';
import { pathFunctions } from './template/name-functions.ts';
import { type NameTemplate, parseTemplate, type TemplateLanguage } from './template/parse-template.ts';
import { TemplateError } from './template/template-error.ts';

const ofPaths: TemplateLanguage = {
  isVariable: (name) => name === 'ExternalName',
  functions: pathFunctions,
};

/**
 * Parses the template of the paths that external secrets are imported to: its variable is `.ExternalName`, its functions are
 * those of name templates and `split`. Throws `Problem` `invalid`, which names the field `path`, if it cannot be parsed.
 */
export function parsePathTemplate(template: string): NameTemplate {
  try {
    return parseTemplate(template, ofPaths);
  } catch (error) {
    if (error instanceof TemplateError) throw invalid(`path: ${error.message}`);
    throw error;
  }
}

/** Returns the path in the mount for an external secret, or why the template has none for its name. */
export function importPath(
  template: NameTemplate,
  externalName: string,
): { path: string } | { refusal: string } {
  try {
    return { path: evaluateTemplate(template, { ExternalName: externalName }) };
  } catch (error) {
    if (error instanceof TemplateError) return { refusal: error.message };
    throw error;
  }
}
