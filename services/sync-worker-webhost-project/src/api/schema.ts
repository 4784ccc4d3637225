import { seal } from '@secrets/seal';
import { z } from 'zod';

// The provider's responses, with only the fields that are read. New types and fields of other people's variables must not
// make a list unreadable, so nothing is an enumeration.

const list = z.union([z.array(z.string()), z.string().transform((one) => [one])]);

/** One record: the value of a key for some environments. The value itself is not kept. */
export const Variable = z
  .object({
    id: z.string().default(''),
    key: z.string(),
    type: z.string(),
    target: list.nullish(),
    customEnvironmentIds: list.nullish(),
    gitBranch: z
      .string()
      .nullish()
      .transform((branch) => branch ?? ''),
    comment: z
      .string()
      .nullish()
      .transform((comment) => comment ?? ''),
    createdAt: z.number().nullable().default(null).catch(null),
    /** Null if the provider states none. */
    updatedAt: z.number().nullable().default(null).catch(null),
    value: z.string().nullish(),
    decrypted: z.boolean().nullish(),
    system: z.boolean().nullish(),
    configurationId: z.string().nullish(),
    edgeConfigId: z.string().nullish(),
    contentHint: z.object({}).nullish(),
  })
  .transform(({ value, decrypted, system, configurationId, edgeConfigId, contentHint, ...shown }) => {
    const { customEnvironmentIds, ...variable } = shown;
    return {
      ...variable,
      /** The environments: names of those that each project has, and IDs of those that it defines itself. */
      target: [...(variable.target ?? []), ...(customEnvironmentIds ?? [])],
      /** The size of the value, if the response contains it in clear text. Of an encrypted or sensitive one, nothing is known. */
      knownBytes: variable.type === 'plain' || decrypted === true ? Buffer.byteLength(value ?? '') : 0,
      /** Whether the provider or an integration maintains it, or it has no ID to change it by. */
      isManagedElsewhere:
        variable.id === '' ||
        variable.type === 'system' ||
        system === true ||
        [configurationId, edgeConfigId, contentHint].some((owner) => owner !== undefined && owner !== null),
    };
  });

export type Variable = z.output<typeof Variable>;

/** The value of a record, undefined if the response does not contain it in clear text, and when the record was changed. */
export const Decrypted = z
  .object({
    type: z.string(),
    value: z.string().nullish(),
    decrypted: z.boolean().nullish(),
    updatedAt: z.number().nullable().default(null).catch(null),
  })
  .transform(({ type, value, decrypted, updatedAt }) => ({
    value:
      value !== undefined && value !== null && (decrypted === true || type === 'plain')
        ? seal(value)
        : undefined,
    updatedAt,
  }));

export type Decrypted = z.output<typeof Decrypted>;

export const Page = z.object({
  envs: z.array(Variable),
  pagination: z.object({ next: z.number().nullish() }).nullish(),
  hiddenProductionEnvCount: z.number().default(0),
});

export const Project = z.object({ id: z.string().min(1) });

const created = z
  .union([z.array(Variable), Variable.transform((one) => [one])])
  .nullish()
  .transform((variables) => variables ?? []);

const ErrorContent = z.object({
  code: z.string().optional(),
  message: z.string().catch(''),
  invalidToken: z.boolean().catch(false),
  missingToken: z.boolean().catch(false),
  /** The team requires single sign-on. */
  saml: z.boolean().catch(false),
  limit: z.object({ reset: z.number() }).optional(),
});

/** https://vercel.com/docs/rest-api/errors */
export const ErrorBody = z.object({ error: ErrorContent });

/** Some servers that imitate the provider return what they created as `envs`, as in a list. */
export const Creation = z
  .object({
    created,
    envs: created,
    failed: z.array(ErrorBody).default([]),
  })
  .transform(({ envs, ...creation }) => ({ ...creation, created: [...creation.created, ...envs] }));
