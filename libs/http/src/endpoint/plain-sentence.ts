import type { z } from 'zod';

/**
 * What is wrong with a field, for schemas that do not say it themselves. Completes "<field>: …"; never shows what was
 * given, which may be a secret.
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
      return 'is of the wrong type';
    default:
      return 'has not the form that it must have';
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
