import { Problem } from '@secrets/domain';
import { z } from 'zod';
import { lenientInput } from './lenient-input.ts';
import { shapeOf } from './object-shape.ts';
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

/** Parses a body or a query, leniently (`lenientInput`). Throws as `parseInput`. */
export const parseLeniently = (schema: z.ZodType | undefined, input: unknown): unknown =>
  parseInput(schema, lenientInput(schema, input));

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
