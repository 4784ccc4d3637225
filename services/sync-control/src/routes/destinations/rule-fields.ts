import { type Naming, namingFields } from '@secrets/destinations';
import { destinationType, rulePattern, whyNoPattern, withoutNul } from '@secrets/domain';
import { z } from 'zod';
import type { RuleSettings } from '../../destinations/rules/prepare-rule.ts';
import { name, SecretRef } from '../fields.ts';

export const rulesPath = '/sys/sync/destinations/:type/:name/rules';
export const rulePath = `${rulesPath}/:rule`;

/** A rule of a destination. `shownType` is the name of the type that the request has used. */
export const RuleParams = z
  .object({ type: z.string(), name, rule: name })
  .transform(({ type, ...ref }) => ({ ...ref, type: destinationType(type), shownType: type }));
export type RuleParams = z.output<typeof RuleParams>;

const maxExcluded = 100;
const maxMetadataKeys = 16;
/** Limits of `custom_metadata`. */
const maxValueBytes = 512;
const maxKeyBytes = 128;

const pattern = z
  .string()
  .superRefine((text, context) => {
    const message = whyNoPattern(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta(rulePattern);

export const metadataText = z.string().meta({ ...withoutNul, maxLength: maxValueBytes / 4 });

export const metadataMatch = z
  .record(z.string(), metadataText, { error: 'must be a map of strings' })
  .refine((map) => Object.keys(map).length <= maxMetadataKeys, {
    error: `must have at most ${maxMetadataKeys} keys`,
  })
  .refine((map) => Object.keys(map).every((key) => Buffer.byteLength(key) <= maxKeyBytes), {
    error: `each key must be at most ${maxKeyBytes} bytes`,
  })
  .refine((map) => Object.values(map).every((value) => Buffer.byteLength(value) <= maxValueBytes), {
    error: `each value must be at most ${maxValueBytes} bytes`,
  });

/** A field that the rule may have in place of its destination; checked by the type. */
const ofDestination = (what: string) =>
  z
    .string({ error: 'must be a string' })
    .max(1024)
    .meta(withoutNul)
    .nullable()
    .describe(`${what}, in place of that of the destination`);

export const ruleFields = {
  mount: SecretRef.shape.mount,
  path: pattern,
  exclude: z.array(pattern).max(maxExcluded, `must have at most ${maxExcluded} paths`),
  metadata_match: metadataMatch,
  secret_name_template: ofDestination('the template of names').optional(),
  granularity: ofDestination('the granularity').optional(),
  value_key: ofDestination('the key whose value is pushed').optional(),
  owner: z.uuid('must be the ID of an entity').optional(),
};

/** The fields of a rule, with their defaults. */
export const NewRule = z.object({
  ...ruleFields,
  exclude: ruleFields.exclude.default([]),
  metadata_match: ruleFields.metadata_match.default({}),
});

type NamingIn = Readonly<Partial<Record<(typeof namingFields)[number], string | null | undefined>>>;

/** The naming in a body; fields that it does not have are those of an existing rule. */
export const namingIn = (body: NamingIn, before: Naming = {}): Naming =>
  Object.fromEntries(
    namingFields.flatMap((field) => {
      const value = body[field] === undefined ? before[field] : body[field];
      return value === null || value === undefined ? [] : [[field, value]];
    }),
  );

/** The settings that a body has, which replace those of an existing rule. */
export const settingsIn = (body: z.output<typeof NewRule>): RuleSettings => ({
  mount: body.mount,
  path: body.path,
  exclude: body.exclude,
  metadataMatch: body.metadata_match,
  naming: namingIn(body),
});
