import fc from 'fast-check';

/** The parts of JSON Schema that the document uses. */
export interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  examples?: unknown[];
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  items?: JsonSchema;
}

/** Values that a schema permits. */
export function validValues(schema: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (schema.const !== undefined) return fc.constant(schema.const);
  // Texts in a language of their own, such as policies.
  if (schema.examples !== undefined) return fc.constantFrom(...schema.examples);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => validValues({ ...schema, type }, depth)));
  // A type beside alternatives restricts them.
  if (schema.type === undefined && alternatives !== undefined)
    return fc.oneof(...alternatives.map((one) => validValues(one, depth)));
  if (schema.allOf !== undefined) return valuesOfAll(schema, schema.allOf, depth);
  return valuesOfType(schema, depth);
}

/**
 * Drawn from the schema beside `allOf`, or else from the last part; texts that a pattern of another part refuses are
 * left out.
 */
function valuesOfAll({ allOf: _, ...own }: JsonSchema, parts: readonly JsonSchema[], depth: number) {
  const patterns = parts.flatMap(({ pattern }) => (pattern === undefined ? [] : [new RegExp(pattern, 'u')]));
  const fits = (value: unknown) => typeof value !== 'string' || patterns.every((one) => one.test(value));
  return validValues(Object.assign({}, ...parts, own), depth).filter(fits);
}

function valuesOfType(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return numbers(schema, Math.trunc);
    case 'number':
      return numbers(schema, (value) => value);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return lists(schema, depth);
    case 'object':
      return objects(schema, depth);
    default:
      return fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' });
  }
}

function texts({ pattern, minLength = 0, maxLength = 200 }: JsonSchema): fc.Arbitrary<string> {
  if (pattern === undefined)
    return fc.oneof(
      fc.string({ minLength, maxLength, size: 'small' }),
      fc.string({ minLength, maxLength, size: 'small', unit: 'binary' }),
    );
  // A quantifier without an end is bounded by `size`, so only the shortest and the longest texts are left out.
  const fits = (text: string) => [...text].length >= minLength && [...text].length <= maxLength;
  return matching(pattern).filter(fits);
}

/** By pattern: making one lists each character of its classes, and the document repeats few patterns often. */
const known = new Map<string, fc.Arbitrary<string>>();

function matching(pattern: string): fc.Arbitrary<string> {
  const found = known.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' });
  known.set(pattern, found);
  return found;
}

function numbers({ minimum, maximum }: JsonSchema, rounded: (value: number) => number): fc.Arbitrary<number> {
  const min = minimum ?? Number.MIN_SAFE_INTEGER;
  const max = maximum ?? Number.MAX_SAFE_INTEGER;
  const near = fc.integer({ min: Math.max(min, -100), max: Math.min(max, Math.max(min, -100) + 1_000) });
  return fc.oneof(near, fc.constantFrom(min, max), fc.double({ min, max, noNaN: true }).map(rounded));
}

function lists({ items = {}, minItems = 0, maxItems = 3 }: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  if (depth > 3) return fc.constant([]);
  return fc.array(validValues(items, depth + 1), {
    minLength: minItems,
    maxLength: Math.min(maxItems, minItems + 3),
  });
}

function objects(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames = { type: 'string' } } = schema;
  const known = Object.entries(properties).map(([name, field]) => [name, validValues(field, depth + 1)]);
  const alternatives = schema.anyOf ?? [{}];
  const listed = fc.oneof(
    ...alternatives.map((one) =>
      fc.record(Object.fromEntries(known), { requiredKeys: [...required, ...(one.required ?? [])] as never }),
    ),
  );
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  if (!isOpen || depth > 3) return listed;
  const others = validValues(additionalProperties === true ? {} : additionalProperties, depth + 1);
  const names = validValues({ type: 'string', ...propertyNames }) as fc.Arbitrary<string>;
  const more = fc.dictionary(names, others, { maxKeys: Math.min(3, schema.maxProperties ?? 3) });
  return fc.tuple(listed, more).map(([some, rest]) => ({ ...rest, ...(some as object) }));
}

const oddTexts = fc.oneof(
  fc.constantFrom(
    '',
    '*',
    '.',
    '..',
    'a//b',
    '%',
    '\0',
    '\ud800',
    '\u200b',
    '{{ .X }}',
    '@/etc/passwd',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ minLength: 2_000, maxLength: 5_000 }),
);
const wild = fc.oneof(
  oddTexts,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Values that a schema permits, in which now and then a part is replaced by something else. */
export const nearlyValidValues = (schema: JsonSchema): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: validValues(schema) },
    { weight: 2, arbitrary: fc.tuple(validValues(schema), wild, fc.nat()).map(withReplacement) },
    { weight: 1, arbitrary: wild },
  );

/** Replaces one field of an object, or the whole. */
function withReplacement([value, other, which]: [unknown, unknown, number]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return other;
  const names = Object.keys(value);
  const name = names[which % Math.max(1, names.length)];
  return name === undefined ? other : { ...value, [name]: other };
}
