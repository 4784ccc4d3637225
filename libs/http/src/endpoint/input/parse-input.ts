import { Problem } from '@secrets/domain';
import { z } from 'zod';
import type { Method } from '../endpoint.ts';
import { plainSentence } from './plain-sentence.ts';

z.config({ localeError: plainSentence });

/**
 * Parses one part of a request.
 * @throws a problem (`invalid`) with one sentence per invalid field, at most 20
 */
export function parseInput(schema: z.ZodType | undefined, input: unknown): unknown {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(input ?? {});
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.slice(0, 20).map((issue) => sentenceOf(issue, input));
  throw new Problem('invalid', sentences[0], { also: sentences.slice(1) });
}

/**
 * Parses a body. `null` means the same as an absent field (docs/conventions.md#15-bodies), in nested objects too, unless the field's
 * schema accepts it. In a patch it is a value: it removes the field.
 */
export const parseBody = (method: Method, schema: z.ZodType | undefined, body: unknown): unknown =>
  parseInput(schema, method === 'patch' ? body : withoutNulls(schema, body));

function withoutNulls(schema: unknown, value: unknown): unknown {
  const shape = shapeOf(schema);
  if (shape === undefined || typeof value !== 'object' || value === null || Array.isArray(value))
    return value;
  const fields = Object.entries(value).filter(([name, field]) => field !== null || takesNull(shape[name]));
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutNulls(shape[name], field)]));
}

const takesNull = (schema: unknown): boolean => schema instanceof z.ZodType && schema.safeParse(null).success;

const maxWarnings = 20;

/** The `warnings` for fields that are not in the body's schema; without a schema, every field is unknown. */
export function unknownFieldWarnings(schema: z.ZodType | undefined, body: unknown): string[] {
  const fields = unknownFields(schema ?? noFields, body);
  const more = fields.length - maxWarnings;
  const named = fields.slice(0, maxWarnings).map((field) => `unknown field ${field} was ignored`);
  return more > 0 ? [...named, `${more} more unknown fields were ignored`] : named;
}

const noFields = z.object({});

/** Paths of unknown fields, such as `options.foo`; none if the schema is not an object or allows any field. */
function unknownFields(schema: unknown, body: unknown, parent = ''): string[] {
  const shape = shapeOf(schema);
  if (shape === undefined || typeof body !== 'object' || body === null || Array.isArray(body)) return [];
  return Object.entries(body).flatMap(([field, value]) =>
    Object.hasOwn(shape, field)
      ? unknownFields(shape[field], value, `${parent}${field}.`)
      : [`${parent}${field}`],
  );
}

function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  if (schema instanceof z.ZodObject) return schema.def.catchall === undefined ? schema.shape : undefined;
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in);
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? shapeOf(schema.unwrap()) : undefined;
}

function sentenceOf(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.path.length === 0)
    return issue.code === 'custom' ? issue.message : 'the request body must be a JSON object';
  const name = issue.path.join('.');
  const absent = valueAt(input, issue.path) === undefined;
  return absent ? `${name} is required` : `${name}: ${issue.message}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
