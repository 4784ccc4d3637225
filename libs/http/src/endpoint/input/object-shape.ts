import { z } from 'zod';

/** The fields of a schema by name; undefined if it is not an object or allows any field. */
export function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  const inner = unwrapped(schema);
  return inner instanceof z.ZodObject && inner.def.catchall === undefined ? inner.shape : undefined;
}

/** What a schema accepts as an input, apart from an absent value or null. */
export function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in);
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? unwrapped(schema.unwrap()) : schema;
}
