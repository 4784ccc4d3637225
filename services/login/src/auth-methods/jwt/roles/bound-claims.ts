import { withoutNul } from '@secrets/domain';
import { z } from 'zod';

/** A value of a claim that can be compared. */
export type Scalar = string | number | boolean;

const maxClaims = 50;
const maxValues = 500;
const maxLength = 1_024;

/** Whether the database can store a text. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Whether a value can be compared. Larger numbers would equal their neighbours. */
export const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' ? isStorable(value) : typeof value === 'boolean' || Number.isSafeInteger(value);

function refusalOf(claims: Record<string, unknown>): string | undefined {
  const entries = Object.entries(claims);
  if (entries.length > maxClaims) return `must have at most ${maxClaims} claims`;
  if (entries.some(([name]) => name === '' || name.length > maxLength)) return 'must name each claim';
  const values = entries.flatMap(([, value]) => value);
  if (values.length > maxValues) return `must have at most ${maxValues} values`;
  if (entries.some(([, value]) => Array.isArray(value) && value.length === 0))
    return 'must have a value for each claim';
  if (!values.every(isScalar)) return 'values must be strings, whole numbers, booleans or lists of these';
  if (values.some((value) => value === '')) return 'values must not be empty';
  if (values.some((value) => String(value).length > maxLength))
    return `values must have at most ${maxLength} characters`;
  return undefined;
}

const scalar = [
  { type: 'string', minLength: 1, maxLength, ...withoutNul },
  { type: 'integer' },
  { type: 'boolean' },
];

/** A map of claims to the values that they may have. A single value is the same as a list of it. */
export const boundClaims = z
  .record(z.string(), z.unknown(), { error: 'must be a map of claims' })
  .transform((claims, context): Record<string, Scalar[]> => {
    const refusal = refusalOf(claims);
    if (refusal !== undefined) {
      context.addIssue({ code: 'custom', message: refusal });
      return z.NEVER;
    }
    return Object.fromEntries(
      Object.entries(claims).map(([name, value]) => [name, [value].flat() as Scalar[]]),
    );
  })
  .meta({
    type: 'object',
    propertyNames: { type: 'string', minLength: 1, ...withoutNul },
    additionalProperties: { anyOf: [...scalar, { type: 'array', items: { anyOf: scalar }, minItems: 1 }] },
  });
