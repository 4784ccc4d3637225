import type { Json } from '@secrets/domain';
import type { DestinationDescription, Granularity } from '../description.ts';
import { whyTemplateRefused } from '../names/check-template.ts';

/** Returns why settings cannot have their template; nothing if they can. */
export function templateProblem(
  description: DestinationDescription,
  settings: Record<string, Json>,
): string[] {
  const { secret_name_template: template, granularity } = settings;
  if (typeof template !== 'string' || template === '') return [];
  const reason = whyTemplateRefused(description, template, granularity as Granularity);
  return reason === undefined ? [] : [`secret_name_template: ${reason}`];
}

/** Returns why settings cannot have their `value_key`; nothing if they can. */
export const valueKeyProblem = ({ value_key: key, granularity }: Record<string, Json>): string[] =>
  key !== '' && granularity === 'secret-key'
    ? [
        'value_key: requires the granularity secret-path; at secret-key granularity, each key has an external secret',
      ]
    : [];
