import type { Json } from '@secrets/domain';
import type { Budget } from '@secrets/scheduler';
import type { z } from 'zod';

export type Granularity = 'secret-path' | 'secret-key';

/** How the external secrets of a type are named. */
interface NameRule {
  /** Returns the template of destinations that do not set their own. */
  defaultTemplate(prefix: string, granularity: Granularity): string;
  /** Turns the result of the default template into a valid name. The results of users' own templates are not changed. */
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
export interface DestinationDescription {
  /** The API's type identifier. */
  type: string;
  /** The fields of the create and update requests. They are treated as optional: an update keeps what it omits. */
  fields: z.ZodObject;
  /** The default of every non-secret field that is stored. */
  defaults: Readonly<Record<string, Json>>;
  /**
   * Fields that are stored encrypted and shown as asterisks. A check of their content belongs into `fields`. Its messages are shown, so
   * they must not contain any part of the value.
   */
  secretFields: readonly string[];
  /** Fields shown in `connection_details`; the others are in `options`. */
  connectionFields: readonly string[];
  /** Fields whose change is pushed to every external secret, in the background; `custom_tags` if absent. */
  pushedFields?: readonly string[];
  /**
   * The setting that names a code-host application of the destination's namespace, if the type has one. The application must exist, and
   * the driver receives its `app_id` and `private_key` among the credentials.
   */
  appField?: string;
  /** Fields that cannot be changed after creation. */
  immutableFields: readonly string[];
  supportsTags: boolean;
  tagRule: TagRule;
  /** Maximum size of a value, in UTF-8 bytes. */
  maxValueBytes: number;
  /** Whether the destination accepts an empty value. */
  takesEmptyValue: boolean;
  nameRule: NameRule;
  /**
   * Returns what identifies the account at the provider whose budget the destination uses: destinations with equal parts share a lane. May
   * contain credentials, so it is only stored as a hash.
   */
  account(
    settings: Readonly<Record<string, Json>>,
    credentials: Readonly<Record<string, string>>,
  ): readonly unknown[];
  /** The provider's limit on write calls per account. */
  budget: Budget;
  /**
   * Returns the settings with those filled in that follow from the credentials, such as a project that they name. Called when a
   * request is parsed, before the checks; absent if there are none.
   */
  derive?(
    settings: Readonly<Record<string, Json>>,
    credentials: Readonly<Record<string, string>>,
  ): Record<string, Json>;
  /** Returns what is wrong with the combination of fields, one sentence each, which begins with the field's name. */
  check(settings: Readonly<Record<string, Json>>, credentials: ReadonlySet<string>): string[];
}
