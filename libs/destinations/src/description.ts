import { readStored } from '@secrets/domain';
import type { Budget } from '@secrets/scheduler';
import { z } from 'zod';
import type { Field, Fields, SettingsOf } from './fields/field.ts';

export type Granularity = 'secret-path' | 'secret-key';

/** Rules for the names of the external secrets of a type. */
interface NameRule {
  /** Returns the template of destinations that do not set their own. */
  defaultTemplate(prefix: string, granularity: Granularity): string;
  /** Turns the result of the default template into a valid name. In that of a user's own template, only separators are. */
  normalise(name: string): string;
  /** Returns why the name is invalid, as a clause that follows "the name"; undefined if it is valid. */
  check(name: string): string | undefined;
  /** Returns the same key for names that the destination does not distinguish, such as names that differ in case. */
  collisionKey(name: string): string;
}

/** The tags, labels or the like that a type accepts. */
interface TagRule {
  /** Number of custom tags, without the built-in ones. */
  maxCustomTags: number;
  /** Returns why the tag is invalid, as a clause that follows its key; undefined if it is valid. */
  check(key: string, value: string): string | undefined;
}

/** The part of a destination type that does no I/O. Its other part is the driver in the type's worker. */
export interface DestinationDescription<Declared extends Fields = Fields> {
  /** The API's type identifier. */
  type: string;
  /** The fields of requests and of what is stored; everything about one follows from its declaration. */
  fields: Declared;
  /** The body of a create or an update request, derived from `fields`. */
  body: z.ZodObject;
  /** The defaults of the stored settings, derived from `fields`. */
  defaults: SettingsOf<Declared>;
  /**
   * The setting that names a code-host application of the destination's namespace, if the type has one. The application
   * must exist, and the driver receives its `app_id` and `private_key` (PKCS#8) among the credentials.
   */
  appField?: keyof SettingsOf<Declared> & string;
  supportsTags: boolean;
  tagRule: TagRule;
  /** Maximum size of a value, in UTF-8 bytes. */
  maxValueBytes: number;
  /** Whether the destination accepts an empty value. */
  takesEmptyValue: boolean;
  nameRule: NameRule;
  /**
   * Returns what identifies the account at the provider whose budget the destination uses: destinations with equal
   * parts share a lane. May contain credentials, so it is only stored as a hash.
   */
  account(settings: SettingsOf<Declared>, credentials: Readonly<Record<string, string>>): readonly unknown[];
  /** The provider's limit on write calls per account. */
  budget: Budget;
  /** Whether one page of a list shows of many external secrets whether they are as they were pushed; default false. */
  looksByList?: boolean;
  /**
   * Returns the settings with those filled in that follow from the credentials, such as a project that they name. Called when a
   * request is parsed, before the checks; absent if there are none.
   */
  derive?(
    settings: SettingsOf<Declared>,
    credentials: Readonly<Record<string, string>>,
  ): SettingsOf<Declared>;
  /** Returns what is wrong with the combination of fields, one sentence each, which begins with the field's name. */
  check(settings: SettingsOf<Declared>, credentials: ReadonlySet<string>): string[];
}

/** Completes the description of a type with what follows from its fields. */
export const describeType = <Declared extends Fields>(
  type: Omit<DestinationDescription<Declared>, 'body' | 'defaults'>,
): DestinationDescription<Declared> => ({
  ...type,
  body: z.object(mapFields(type.fields, ({ schema }) => [schema])).partial(),
  defaults: mapFields(type.fields, (field) =>
    'default' in field ? [field.default] : [],
  ) as SettingsOf<Declared>,
});

const mapFields = <Result>(fields: Fields, map: (field: Field) => Result[]): Record<string, Result> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => map(field).map((result) => [name, result])),
  );

/**
 * Returns stored settings, parsed, with the defaults of those that are missing: the type may have had fewer fields when
 * they were stored. Settings that only a newer version knows are kept. Throws `conflict`, which names the field and
 * `object`, for a value that no request could have set.
 */
export const settingsOf = <Declared extends Fields>(
  { fields, type }: DestinationDescription<Declared>,
  stored: Readonly<Record<string, unknown>>,
  object = `a destination of type ${type}`,
): SettingsOf<Declared> => readStored(fields, stored, object) as SettingsOf<Declared>;
