import { isJsonObject, mapOfPairs, Problem, refuseProtective } from '@secrets/domain';
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

/**
 * The `warnings` for fields that are not in the body's schema; without a schema, every field is unknown. To be called before
 * anything is done.
 * @throws a problem (`invalid`) if one of them is a condition or a protection
 */
export function unknownFieldWarnings(schema: z.ZodType | undefined, body: unknown): string[] {
  const named: string[] = [];
  const count = addUnknown(named, schema ?? noFields, body, '');
  const more = count - named.length;
  const warnings = named.map((field) => `unknown field ${field} was ignored`);
  return more > 0 ? [...warnings, `${more} more unknown fields were ignored`] : warnings;
}

const noFields = z.object({});

/**
 * Adds the paths of the first unknown fields, such as `options.foo`, and returns the number of all of them: none if the schema
 * is not an object or allows any field.
 */
function addUnknown(named: string[], schema: unknown, body: unknown, parent: string): number {
  const shape = shapeOf(schema);
  if (shape === undefined || !isJsonObject(body)) return 0;
  let count = 0;
  for (const field of Object.keys(body)) {
    const path = `${parent}${field}`;
    if (Object.hasOwn(shape, field)) count += addUnknown(named, shape[field], body[field], `${path}.`);
    else {
      refuseProtective(path, body[field]);
      count += 1;
      if (named.length < maxWarnings) named.push(path);
    }
  }
  return count;
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
    if (typeof key === 'string') value = mapOfPairs(value) ?? value;
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
