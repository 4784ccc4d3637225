import { destinationType, maxVersionWaitSeconds, trimSlashes } from '@secrets/domain';
import { integerBetween, secondsBetween, segmentsPattern } from '@secrets/http';
import { z } from 'zod';

const ofEitherName = z.string().transform(destinationType);

/** A destination type in the path, by either of its names. `findDescription` checks whether the type exists. */
export const TypeParams = z.object({ type: ofEitherName });

/** The name of a destination, or of a code-host application. */
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/,
    'must be 1 to 128 letters, digits, . _ or -, beginning and ending with a letter or digit',
  );

/**
 * Type and name of a destination in the path. `shownType` is the name of the type that the request has used, and the
 * response uses.
 */
export const DestinationParams = z
  .object({ type: z.string(), name })
  .transform(({ type, ...ref }) => ({ ...ref, type: destinationType(type), shownType: type }));
export type DestinationParams = z.output<typeof DestinationParams>;

/** The `next` of a page of a list of external secrets. */
export const ListPosition = z.string().regex(/^[\w-]{1,8192}$/, 'must be the `next` of another page');

/** Seconds to wait for an outcome: at most 5, which is also the default. */
export const WaitQuery = z.object({
  wait: z.coerce.number({ error: 'must be a number of seconds between 0 and 5' }).min(0).max(5).default(5),
});

/** A version of a secret to wait for, and how long; nothing is waited for without either. */
export const VersionQuery = z.object({
  version: integerBetween(1, 2_147_483_647).optional(),
  wait: secondsBetween(0, maxVersionWaitSeconds, `0s and ${maxVersionWaitSeconds}s`)
    .meta({ examples: ['0s', '2s'] })
    .optional(),
});
export type VersionQuery = z.output<typeof VersionQuery>;

/** A mount and a secret; slashes around either are ignored. */
export const SecretRef = z.object({ mount: trimmed('mount'), secret_name: trimmed('secret_name') });
export type SecretRef = z.infer<typeof SecretRef>;

/** One secret, as `mount` and `secret_name`, or a list of up to `max` different ones, as `secrets`. */
export const secretOrList = <More extends z.ZodRawShape>(max: number, more: More) =>
  SecretRef.partial()
    .extend({ secrets: z.array(SecretRef).min(1).max(max).optional(), ...more })
    .superRefine((body, context) => {
      const { mount, secret_name: name, secrets } = body as Partial<SecretRef> & { secrets?: SecretRef[] };
      const refuse = (path: (string | number)[], message: string) =>
        context.addIssue({ code: 'custom', path, message });
      if (secrets === undefined) {
        for (const [field, value] of Object.entries({ mount, secret_name: name }))
          if (value === undefined) refuse([field], 'is required');
        return;
      }
      if (mount !== undefined || name !== undefined)
        refuse(['secrets'], 'cannot be combined with mount and secret_name');
      const first = new Map<string, number>();
      for (const [at, secret] of secrets.entries()) {
        const key = JSON.stringify([secret.mount, secret.secret_name]);
        if (first.has(key)) refuse(['secrets', at], `is the same secret as number ${first.get(key)}`);
        else first.set(key, at);
      }
    });

/** The secrets that a body names with `secretOrList`. */
export const isList = <Body extends { secrets?: SecretRef[] | undefined }>(
  body: Body,
): body is Body & { secrets: SecretRef[] } => body.secrets !== undefined;

function trimmed(field: string) {
  return z
    .string({ error: 'must be a string' })
    .max(4096)
    .transform((text, context) => {
      const path = trimSlashes(text);
      if (path === '') context.addIssue({ code: 'custom', message: 'must not be empty' });
      return path;
    })
    .meta({ description: field, pattern: segmentsPattern });
}
