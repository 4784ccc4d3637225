import type { Json } from '@secrets/domain';
import type { z } from 'zod';

export type Granularity = 'secret-path' | 'secret-key';

/** How external secrets of a type are named. */
export interface NameRule {
  /** The template used where the destination has none of its own. */
  defaultTemplate(prefix: string, granularity: Granularity): string;
  /** Brings what the default template gives to what the destination allows. A template of the user's own is left as it is. */
  normalise(name: string): string;
  /** Why the destination cannot take the name, as a sentence that begins after "the name …"; undefined when it can. */
  check(name: string): string | undefined;
  /** Equal for two names that the destination takes for the same. */
  collisionKey(name: string): string;
}

/** What tags, labels, or the like a type takes. */
export interface TagRule {
  /** How many the user may set; what we set ourselves is already subtracted. */
  maxCustomTags: number;
  /** Why the tag cannot be set; undefined when it can. */
  check(key: string, value: string): string | undefined;
}

/** The pure half of a destination type. Its other half is the driver in the type's worker. */
export interface DestinationDescription {
  /** The API's type identifier. */
  type: string;
  /** Every field of the create and update request; all optional, because an update keeps what it omits. */
  fields: z.ZodObject;
  /** What a non-secret field is when nobody ever set it. Every non-secret field has one; null is none. */
  defaults: Readonly<Record<string, Json>>;
  /** Fields kept sealed and shown as asterisks. */
  secretFields: readonly string[];
  /** Fields shown in `connection_details`; the others are in `options`. */
  connectionFields: readonly string[];
  /** Fields that cannot be changed after creation. */
  immutableFields: readonly string[];
  supportsTags: boolean;
  tagRule: TagRule;
  /** UTF-8 bytes of one value. */
  maxValueBytes: number;
  /** Whether the destination takes an empty value. */
  takesEmptyValue: boolean;
  nameRule: NameRule;
  /** What is wrong with the fields taken together; one sentence each, naming the field. */
  check(settings: Readonly<Record<string, Json>>, credentials: ReadonlySet<string>): string[];
}
