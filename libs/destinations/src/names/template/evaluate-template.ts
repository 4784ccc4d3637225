import { applyNameFunction } from './name-functions.ts';
import type { TemplateVariable } from './name-variables.ts';
import type { NameTemplate, Source } from './parse-template.ts';
import { TemplateError } from './template-error.ts';

const maxNameLength = 2048;

type Values = Readonly<Partial<Record<TemplateVariable, string>>>;

/**
 * Returns the name that a template produces, always the same for the same variables. Throws `TemplateError` for a
 * variable without a value, and for a name of more than 2,048 characters.
 */
export function evaluateTemplate(template: NameTemplate, variables: Values): string {
  const name = template
    .map(({ source, steps }) =>
      steps.reduce(
        (text, step) => applyNameFunction(step.name, text, step.args),
        sourceText(source, variables),
      ),
    )
    .join('');
  if (name.length > maxNameLength)
    throw new TemplateError(`the name would be longer than ${maxNameLength} characters`);
  return name;
}

function sourceText(source: Source, variables: Values): string {
  if (source.kind === 'literal') return source.text;
  const value = variables[source.name];
  if (value === undefined)
    throw new TemplateError(`.${source.name} has a value at secret-key granularity only`);
  return value;
}
