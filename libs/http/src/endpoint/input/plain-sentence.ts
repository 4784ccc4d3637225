import type { z } from 'zod';

/**
 * The message for an invalid field whose schema does not define one. Completes "<field>: …". Never contains the value,
 * which may be a secret.
 */
export function plainSentence(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return tooBig(issue);
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return 'has the wrong type';
    default:
      return 'has an invalid format';
  }
}

const kinds: Partial<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
};

const units: Partial<Record<string, string>> = { string: ' characters', array: ' items' };

function tooSmall({ origin, minimum }: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  const unit = units[origin];
  if (unit === undefined) return `must be at least ${minimum}`;
  return minimum === 1 ? 'must not be empty' : `must have at least ${minimum}${unit}`;
}

function tooBig({ origin, maximum }: z.core.$ZodRawIssue<z.core.$ZodIssueTooBig>): string {
  const unit = units[origin];
  return unit === undefined ? `must be at most ${maximum}` : `must have at most ${maximum}${unit}`;
}
