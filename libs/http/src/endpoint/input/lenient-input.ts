import { isExactNumber } from '@secrets/domain';
import { z } from 'zod';
import { innerSchema, shapeOf } from './object-shape.ts';
import { plainNumber } from './plain-number.ts';

/**
 * Returns an input as its schema understands it, in nested objects too (docs/conventions/http.md#bodies):
 * - A field that is null is absent, unless its schema accepts null, as in a merge patch: there it removes the field.
 * - An optional field that is an empty text is absent, unless its schema accepts an empty text, or it is a list: without a
 *   selection, some endpoints act on everything.
 * - Numbers are ordinary ones, except where the schema accepts any JSON, as for the value of a secret.
 * - Fields that the schema does not have are left out.
 * @throws a problem (`invalid`) if a number would lose digits
 */
export const lenientInput = (schema: unknown, input: unknown): unknown => meant(schema, input, undefined);

/** Where a value is: its name, and where its container is; undefined for the input itself. */
type Place = { name: string; in: Place } | undefined;

const pathOf = (place: Place): string[] => (place === undefined ? [] : [...pathOf(place.in), place.name]);

function meant(schema: unknown, value: unknown, place: Place): unknown {
  if (schema === undefined || typeof value !== 'object' || value === null || acceptsAnyJson(schema))
    return value;
  if (isExactNumber(value)) return plainNumber(value, pathOf(place).join('.') || 'the body');
  if (preparesItself(schema)) return value;
  if (Array.isArray(value))
    return value.map((item, index) => meant(schemaOfItems(schema), item, { name: String(index), in: place }));
  const shape = shapeOf(schema);
  const meantBy = (name: string) => (shape === undefined ? schema : shape[name]);
  return Object.fromEntries(
    fieldsOf(value, shape).map(([name, field]) => [name, meant(meantBy(name), field, { name, in: place })]),
  );
}

/** The fields that are present; of an object with a shape, only those that it knows, however many others there are. */
function fieldsOf(value: object, shape: Record<string, unknown> | undefined): [string, unknown][] {
  if (shape === undefined) return Object.entries(value);
  const known = Object.keys(value).filter((name) => Object.hasOwn(shape, name));
  return known
    .map((name): [string, unknown] => [name, (value as Record<string, unknown>)[name]])
    .filter(([name, field]) => isPresent(shape[name], field));
}

function acceptsAnyJson(schema: unknown): boolean {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodUnknown || inner instanceof z.ZodCustom;
}

/** Whether a schema begins with a transform, which reads the lists and objects of the input itself. */
const preparesItself = (schema: unknown): boolean => innerSchema(schema) instanceof z.ZodTransform;

function schemaOfItems(schema: unknown): unknown {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodArray ? inner.element : schema;
}

function isPresent(schema: unknown, field: unknown): boolean {
  if (!(schema instanceof z.ZodType)) return true;
  if (field === null) return accepts(schema, null);
  return field !== '' || !accepts(schema, undefined) || isList(schema) || accepts(schema, '');
}

function isList(schema: unknown): boolean {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodArray || (inner instanceof z.ZodUnion && inner.options.some(isList));
}

const accepts = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;
