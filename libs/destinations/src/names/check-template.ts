import type { DestinationDescription, Granularity } from '../description.ts';
import { separatorsReplaced } from './external-name.ts';
import { evaluateTemplate } from './template/evaluate-template.ts';
import type { NameVariables } from './template/name-variables.ts';
import { type NameTemplate, parseTemplate } from './template/parse-template.ts';
import { TemplateError } from './template/template-error.ts';

const probe: NameVariables = {
  DestinationType: 'type',
  DestinationName: 'destination',
  NamespacePath: 'team/project',
  NamespaceBaseName: 'project',
  NamespaceID: 'id',
  MountPath: 'team/kv',
  MountBaseName: 'kv',
  MountAccessor: 'kv_1234',
  SecretPath: 'app/login',
  SecretBaseName: 'login',
};

/** Values that are valid in the names of every type. */
const plain = Object.fromEntries(Object.keys(probe).map((variable) => [variable, 'a'])) as typeof probe;

/** Pairs of typical keys: different ones, and ones that differ only at the end. */
const keyPairs = [
  ['username', 'password'],
  ['key_1', 'key_2'],
] as const;

/**
 * Returns why a destination cannot have the template: it cannot be parsed, its literal text makes every name invalid,
 * or at secret-key granularity it produces the same name for two keys. Returns undefined if it can.
 */
export function whyTemplateRefused(
  description: DestinationDescription,
  template: string,
  granularity: Granularity,
): string | undefined {
  try {
    const parsed = parseTemplate(template);
    const reason = granularity === 'secret-key' ? whyKeysCollide(description, parsed) : whyKeyMissing(parsed);
    return reason ?? whyNeverValid(description, parsed, granularity);
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

function whyKeyMissing(template: NameTemplate): string | undefined {
  evaluateTemplate(template, probe);
  return undefined;
}

function whyNeverValid(
  { nameRule }: DestinationDescription,
  template: NameTemplate,
  granularity: Granularity,
): string | undefined {
  const variables = granularity === 'secret-key' ? { ...plain, SecretKey: 'a' } : plain;
  const name = separatorsReplaced(nameRule, evaluateTemplate(template, variables));
  const refusal = nameRule.check(name);
  return refusal && `produces only invalid names, such as ${JSON.stringify(name)}: a name ${refusal}`;
}

function whyKeysCollide({ nameRule }: DestinationDescription, template: NameTemplate): string | undefined {
  const nameOf = (key: string) =>
    nameRule.collisionKey(evaluateTemplate(template, { ...probe, SecretKey: key }));
  const colliding = keyPairs.find(([one, other]) => nameOf(one) === nameOf(other));
  if (!colliding) return undefined;
  return `at secret-key granularity, keys must have different names, but ${colliding.join(' and ')} have the same; use {{ .SecretKey }}`;
}
