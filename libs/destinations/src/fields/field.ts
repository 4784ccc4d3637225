import type { Json } from '@secrets/domain';
import type { z } from 'zod';

/** Properties that every field declares. */
interface Rules {
  /**
   * The meaning of the field, and the effect of leaving it out, in a phrase. The API description and the forms of the
   * console show it.
   */
  help: string;
  /** The part of the console's form, where it does not follow from `place`. */
  group?: 'identity' | 'network';
  /** Cannot be changed after creation. */
  immutable?: true;
  /** A change is pushed to every external secret, in the background. */
  pushed?: true;
  /** Selects the value to push; a change is pushed as well. Workers read it for all types, drivers do not. */
  selectsValue?: true;
  /** Belongs to the secret fields: a write that replaces the settings keeps it, as it keeps these. */
  credential?: true;
  /** Filled in by `derive`. The result is shown as `effective_<field>`. */
  derived?: true;
  /** Stored as text and shown as an integer. */
  integer?: true;
  /** Shown as it results from the request, not as it was given. */
  shownAsStored?: true;
  /**
   * Shown in place of the field if it was not set, where that is not its default; undefined shows nothing. A default
   * that is shown as if it had been set makes clients such as Terraform delete the destination and create it again.
   */
  shownUnset?: Json | undefined;
}

interface Base extends Rules {
  /** Parses the field of a request. An update keeps what it omits, so every field is optional. */
  schema: z.ZodType;
}

/** A field that is stored in clear text, and shown in `connection_details` or in `options`. */
interface Setting<Value extends Json = Json, Pushed extends true | undefined = true | undefined>
  extends Omit<Base, 'pushed'> {
  place: 'connection' | 'option';
  default: Value;
  pushed?: Pushed;
}

/** A field that is stored encrypted, and shown as asterisks in `connection_details`. */
interface Secret extends Base {
  place: 'secret';
}

/** A field that applies to one request. It is neither stored nor shown. */
interface Instruction extends Base {
  place: 'request';
}

/** The declaration of a field, from which everything else about the field is derived. */
export type Field = Setting | Secret | Instruction;

export type Fields = Readonly<Record<string, Field>>;

/** The stored settings of a destination with these fields. */
export type SettingsOf<Declared extends Fields> = string extends keyof Declared
  ? Readonly<Record<string, Json>>
  : {
      readonly [Name in keyof Declared as Declared[Name] extends Setting
        ? Name
        : never]: Declared[Name] extends Setting<infer Value> ? Value : never;
    };

/** The names of the settings of which a change is pushed to every external secret. */
export type PushedName<Declared extends Fields> = {
  [Name in keyof Declared]: Declared[Name] extends Setting
    ? true extends Declared[Name]['pushed']
      ? Name
      : never
    : never;
}[keyof Declared] &
  string;

const declare =
  <Place extends Setting['place']>(place: Place) =>
  <Value extends Json, Pushed extends true | undefined = undefined>(
    schema: z.ZodType<Value>,
    rules: Omit<Rules, 'pushed'> & { default: NoInfer<Value>; pushed?: Pushed },
  ): Setting<Value, Pushed> => ({
    ...rules,
    place,
    schema: schema.describe(rules.help),
  });

/** A setting that says how the store is reached. */
export const connection = declare('connection');

/** A setting that says what the external secrets are like. */
export const option = declare('option');

/** Messages of the schema are shown, so they must not contain any part of the value. */
export const secret = (schema: z.ZodType, rules: Pick<Rules, 'help'>): Secret => ({
  ...rules,
  place: 'secret',
  schema: schema.describe(rules.help),
});

export const instruction = (schema: z.ZodType, rules: Pick<Rules, 'help'>): Instruction => ({
  ...rules,
  place: 'request',
  schema: schema.describe(rules.help),
});

/** Whether a change of the field changes the external secrets that were pushed before. */
export const isPushed = ({ pushed, selectsValue }: Field): boolean => (pushed ?? selectsValue) === true;

/** Returns the names of the fields that the predicate holds for, in the order of their declaration. */
export const fieldsThat = (
  { fields }: { fields: Fields },
  holds: (field: Field) => boolean | undefined,
): string[] => Object.keys(fields).filter((name) => holds(fields[name] as Field));
