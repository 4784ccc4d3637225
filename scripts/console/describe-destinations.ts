import type { DestinationDescription } from '../../libs/destinations/src/description.ts';
import { isPushed } from '../../libs/destinations/src/fields/field.ts';
import { destinationTypes } from '../../libs/destinations/src/registry.ts';

/** The kind of input for a field. A `text` may also be a number or a duration: the service parses them. */
type FieldKind = 'text' | 'secret' | 'choice' | 'choices' | 'list' | 'map' | 'flag';

/** A field of the forms of the console. */
interface FormField {
  name: string;
  help: string;
  kind: FieldKind;
  group: 'connection' | 'identity' | 'content' | 'network';
  choices: string[];
  isRequired: boolean;
  /** Cannot be changed after creation. */
  isImmutable: boolean;
  /** A change reaches every external secret. */
  isPushed: boolean;
  /** The default, as responses contain it. */
  initial: unknown;
}

interface JsonSchema {
  type?: string;
  enum?: string[];
  items?: { enum?: string[] };
  anyOf?: { type?: string }[];
}

interface ApiDescription {
  paths: Record<string, { post?: { requestBody?: { content: Record<string, { schema: BodySchema }> } } }>;
}
interface BodySchema {
  properties?: Record<string, JsonSchema>;
}

/** Returns the fields of each destination type, from their descriptions and the document of the API. */
export const describeDestinations = (api: object): Record<string, FormField[]> =>
  Object.fromEntries(
    Object.values(destinationTypes).map((description) => [
      description.type,
      formFields(description, fieldSchemas(api as ApiDescription, description.type)),
    ]),
  );

function fieldSchemas({ paths }: ApiDescription, type: string): [string, JsonSchema][] {
  const body = paths[`/v1/sys/sync/destinations/${type}/{name}`]?.post?.requestBody;
  return Object.entries(body?.content['application/json']?.schema.properties ?? {});
}

function formFields(description: DestinationDescription, schemas: [string, JsonSchema][]): FormField[] {
  const required = requiredFields(description);
  return schemas.flatMap(([name, schema]) => {
    const field = description.fields[name];
    if (field === undefined || field.place === 'request') return []; // forms send what is left
    return {
      name,
      help: field.help,
      kind: field.place === 'secret' ? 'secret' : kindOf(schema),
      group: field.group ?? (field.place === 'option' ? 'content' : 'connection'),
      choices: (schema.enum ?? schema.items?.enum ?? []).filter((choice) => choice !== ''),
      isRequired: required.has(name),
      isImmutable: field.immutable === true,
      isPushed: isPushed(field),
      initial: description.defaults[name] ?? '',
    };
  });
}

function kindOf({ type, enum: choices, items, anyOf = [] }: JsonSchema): FieldKind {
  if (choices !== undefined) return 'choice';
  if (items?.enum !== undefined) return 'choices';
  if (type === 'array') return 'list';
  if (type === 'object') return 'map';
  return anyOf.some((one) => one.type === 'boolean') ? 'flag' : 'text';
}

/**
 * Returns the fields without which a destination is invalid. The help of a field says if another field makes it
 * necessary.
 */
function requiredFields({ check, defaults }: DestinationDescription): Set<string> {
  const sentences = check(defaults, new Set());
  return new Set(sentences.flatMap((sentence) => /^(\w+): is required$/.exec(sentence)?.[1] ?? []));
}
