/** A JSON Schema that was derived from examples. */
export interface LearnedSchema {
  type?: string | string[];
  properties?: Record<string, LearnedSchema>;
  required?: string[];
  additionalProperties?: LearnedSchema;
  items?: LearnedSchema;
}

/** Fields whose keys are names that users choose, or versions: their values have one schema. */
const maps = new Set([
  'key_info',
  'versions',
  'associated_secrets',
  'associated_destinations',
  'custom_metadata',
  'custom_tags',
  'meta',
  'secret',
  'auth',
  'subkeys',
  'destinations',
  'entries',
  'drifted',
  'changes',
  'refused',
  'types',
]);

/** Metadata that users have chosen is a map, too; that of a version of a secret is not. */
const isMapField = (name: string, field: unknown): boolean =>
  maps.has(name) || (name === 'metadata' && !Object.hasOwn(Object(field), 'created_time'));

/** Fields that a destination has only during work on all of it, or after looks at it (docs/api/sync.md#destinations). */
const progress =
  /^(?:purge|retry|push|replan)_(?:initiated_at|remaining|error|refused)$|^background_error$|^(?:removals|repairs)_held|^inspected_at$|^drifted$/;

/** Whether a field is shown only at times. In `sys/sync/status`, unlike in the destination itself, they all are always shown. */
const isOptional = (name: string, of: object): boolean =>
  progress.test(name) && !Object.hasOwn(of, 'associations_with_unsyncable_keys');

/** The schema of an example. Nothing is known of the items of an empty list. */
export function schemaOfValue(value: unknown, isMap = false): LearnedSchema {
  if (value === undefined) return {};
  if (value === null) return { type: 'null' };
  if (Array.isArray(value))
    return { type: 'array', items: value.map((item) => schemaOfValue(item)).reduce(merged, {}) };
  if (typeof value !== 'object')
    return { type: typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value };
  const fields = Object.entries(value)
    .filter(([name]) => !isOptional(name, value))
    .map(([name, field]) => [name, schemaOfValue(field, isMapField(name, field))] as const);
  if (isMap)
    return { type: 'object', additionalProperties: fields.map(([, field]) => field).reduce(merged, {}) };
  return { type: 'object', properties: Object.fromEntries(fields), required: fields.map(([name]) => name) };
}

/** A schema that permits what either of two permits; one of which nothing is known permits nothing in particular. */
export function merged(one: LearnedSchema, other: LearnedSchema): LearnedSchema {
  if (one.type === undefined) return other;
  if (other.type === undefined) return one;
  return {
    type: typesOf(one, other),
    ...((one.items ?? other.items) && { items: merged(one.items ?? {}, other.items ?? {}) }),
    ...((one.additionalProperties ?? other.additionalProperties) && {
      additionalProperties: merged(one.additionalProperties ?? {}, other.additionalProperties ?? {}),
    }),
    ...(one.properties && other.properties
      ? mergedFields(one, other)
      : fieldsOf(one.properties ? one : other, [one, other].every(isObject))),
  };
}

const isObject = ({ type = [] }: LearnedSchema): boolean => [type].flat().includes('object');

function typesOf({ type: one = [] }: LearnedSchema, { type: other = [] }: LearnedSchema): string | string[] {
  const types = [...new Set([one, other].flat())].sort();
  return types.length === 1 ? types[0]! : types;
}

/** The fields of one of two schemas; none of them is required if the other one permits an object, too. */
const fieldsOf = ({ properties, required = [] }: LearnedSchema, isEither: boolean): LearnedSchema =>
  properties === undefined ? {} : { properties, required: isEither ? [] : required };

function mergedFields(one: LearnedSchema, other: LearnedSchema): LearnedSchema {
  const names = [...new Set([one, other].flatMap(({ properties = {} }) => Object.keys(properties)))];
  const schemas = names.map((name) => [
    name,
    merged(one.properties?.[name] ?? {}, other.properties?.[name] ?? {}),
  ]);
  const { required = [] } = one;
  return {
    properties: Object.fromEntries(schemas),
    required: required.filter((name) => other.required?.includes(name)),
  };
}

/**
 * Returns the schema to publish. It is empty for a value that was always null, because nothing else is known about it.
 */
export function published(schema: LearnedSchema): LearnedSchema {
  if (schema.type === 'null') return {};
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(items && { items: published(items) }),
    ...(additionalProperties && { additionalProperties: published(additionalProperties) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, published(field)]),
      ),
    }),
  };
}

/** Whether a published schema permits everything of which another one was learned, and no field is missing in it. */
export function permits(described: LearnedSchema | undefined, learned: LearnedSchema): boolean {
  if (described === undefined) return false;
  if (described.type === undefined || learned.type === undefined) return true;
  const types = [described.type].flat();
  if ([learned.type].flat().some((type) => !types.includes(type))) return false;
  const names = Object.keys(learned.properties ?? {});
  const isComplete = (described.required ?? []).every(
    (name) => learned.properties === undefined || names.includes(name),
  );
  return (
    isComplete &&
    (learned.items === undefined || permits(described.items, learned.items)) &&
    (learned.additionalProperties === undefined ||
      permits(described.additionalProperties, learned.additionalProperties)) &&
    names.every((name) => permits(described.properties?.[name], learned.properties![name]!))
  );
}
