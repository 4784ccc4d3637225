import { z } from 'zod';

/** A destination type of the path. Whether there is such a type is for `findDescription` to say. */
export const TypeRef = z.object({ type: z.string() });

/** Type and name of a destination in the path. */
export const DestinationRef = TypeRef.extend({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/,
      'must be 1 to 128 letters, digits, . _ or -, beginning and ending with a letter or digit',
    ),
});

/** The body of a destination write: an object, its fields judged by the type's description. */
export const AnyFields = z.record(z.string(), z.unknown(), {
  error: 'the request body must be a JSON object',
});

/** A page of a list: names after `after`, `limit` at most. */
export const Page = z.object({
  after: z.string().max(4096).default(''),
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
});

/** Milliseconds to wait for an outcome, from the `wait` query in seconds: 5 s at most and by default. */
export const WaitQuery = z.object({
  wait: z.coerce.number({ error: 'must be a number of seconds, 0 to 5' }).min(0).max(5).default(5),
});

/** A mount and a secret in a request body; slashes around either mean nothing. */
export const SecretRef = z.object({ mount: trimmed('mount'), secret_name: trimmed('secret_name') });

/** A mount as it is kept, however it was written: lists show it with a slash at its end. */
export const withoutOuterSlashes = (text: string): string => text.replace(/^\/+|\/+$/g, '');

function trimmed(field: string) {
  return z
    .string({ error: 'must be a string' })
    .max(4096)
    .transform((text, context) => {
      const path = withoutOuterSlashes(text);
      if (path === '') context.addIssue({ code: 'custom', message: 'must not be empty' });
      return path;
    })
    .describe(field);
}
