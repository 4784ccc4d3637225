import fc from 'fast-check';

/** The parts of JSON Schema that the document uses. */
export interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  items?: JsonSchema;
}

const texts = fc.oneof(
  fc.constantFrom(
    'kv',
    's',
    'd',
    'cloudA-sm',
    'cloudB',
    'main',
    'true',
    '0',
    '1h',
    '',
    '*',
    '..',
    '%',
    '\0',
    '{{ .X }}',
    '@/etc/passwd',
  ),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ minLength: 2_000, maxLength: 5_000 }),
);
const wild = fc.oneof(
  texts,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Values that a schema permits, and now and then something else. */
export const valuesOf = (schema: JsonSchema, depth = 0): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: permitted(schema, depth) }, { weight: 1, arbitrary: wild });

function permitted(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const alternatives = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (alternatives !== undefined) return fc.oneof(...alternatives.map((one) => permitted(one, depth)));
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => permitted({ ...schema, type }, depth)));
  switch (schema.type) {
    case 'string':
      return texts;
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer({ min: -2, max: 100 }), fc.integer(), fc.maxSafeInteger());
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return depth > 3
        ? fc.constant([])
        : fc.array(valuesOf(schema.items ?? {}, depth + 1), { maxLength: 3 });
    case 'object':
      return depth > 3 ? fc.constant({}) : objects(schema, depth);
    default:
      return wild;
  }
}

function objects(
  { properties = {}, additionalProperties }: JsonSchema,
  depth: number,
): fc.Arbitrary<unknown> {
  const known = Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, depth + 1)]);
  const listed = fc.record(Object.fromEntries(known), { requiredKeys: [] });
  if (additionalProperties === undefined || additionalProperties === false) return listed;
  const others = additionalProperties === true ? wild : valuesOf(additionalProperties, depth + 1);
  const more = fc.dictionary(texts, others, { maxKeys: 3 });
  return fc.tuple(listed, more).map(([some, rest]) => ({ ...rest, ...some }));
}
