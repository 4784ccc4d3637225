import { z } from 'zod';

/** The fields of a schema by name; undefined if it is not an object or allows any field. */
export function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodObject && inner.def.catchall === undefined ? inner.shape : undefined;
}

/** Returns the schema inside of optional, nullable, default and piped schemas. */
export function innerSchema(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return innerSchema(schema.in);
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? innerSchema(schema.unwrap()) : schema;
}
