import { z } from 'zod';
import { invalid, Problem } from '../problem.ts';

// Settings that are stored as JSON, such as a role's. Each field is declared once, with `setting`, `requiredSetting` or
// `secretSetting`. How it is requested, stored and shown is derived from that.

/** The declaration of a field. */
export interface SettingField<Schema extends z.ZodType = z.ZodType, Place extends string = string> {
  /** Parses the field of a request, and what is stored of it. */
  schema: Schema;
  /** A `sealed` field is stored encrypted, elsewhere than the others, and never shown. */
  place: Place;
  /** A stored field without a default is required. */
  default?: z.output<Schema>;
  /** An older name, by which requests may send it as well. */
  otherName?: string;
  /** Its meaning in the tables of the documentation. */
  help?: string;
  /** Whether Vault does not have it. */
  ownExtension?: true;
}

type SettingFields = Readonly<Record<string, SettingField>>;

/** A field that is stored in clear text, and shown. */
export const setting = <Schema extends z.ZodType>(
  schema: Schema,
  rules: Pick<SettingField<Schema>, 'otherName' | 'help' | 'ownExtension'> & { default: z.output<Schema> },
): SettingField<Schema, 'stored'> => ({ ...rules, schema, place: 'stored' });

/** A setting that has no default. */
export const requiredSetting = <Schema extends z.ZodType>(
  schema: Schema,
): SettingField<Schema, 'stored'> => ({
  schema,
  place: 'stored',
});

/** A field that is stored encrypted and never shown. An empty text, or null in a patch, removes it. */
export const secretSetting = (
  schema: z.ZodType<string>,
  rules: Pick<SettingField, 'help'> = {},
): SettingField<z.ZodType<string>, 'sealed'> => ({
  ...rules,
  schema,
  place: 'sealed',
});

/** Settings in the form in which they are stored, without the secret fields. */
type Settings<Fields extends SettingFields> = {
  [Name in keyof Fields as Fields[Name]['place'] extends 'stored' ? Name : never]: z.output<
    Fields[Name]['schema']
  >;
};

/** The names of the secret fields. */
type SecretName<Fields extends SettingFields> = {
  [Name in keyof Fields]: Fields[Name]['place'] extends 'sealed' ? Name : never;
}[keyof Fields] &
  string;

/** Changes that a request makes: undefined keeps a value, and null restores its default. */
type SettingsPatch<Fields extends SettingFields> = {
  [Name in keyof Fields]?: z.output<Fields[Name]['schema']> | null | undefined;
};

/** Returns the other names of fields by their own name, in the order of their declaration. */
const otherNamesOf = (fields: SettingFields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { otherName }]) =>
      otherName === undefined ? [] : [[name, otherName]],
    ),
  );

/** Derives from the fields of settings how they are requested, stored and shown. */
export function storedSettings<Fields extends SettingFields>(fields: Fields) {
  type Stored = Settings<Fields>;
  const stored = Object.fromEntries(Object.entries(fields).filter(([, { place }]) => place === 'stored'));
  const names = Object.keys(stored);
  const isStored = (name: string) => Object.hasOwn(stored, name);
  const missingIn = (settings: object) => names.find((name) => !Object.hasOwn(settings, name));
  return {
    /** The declarations. */
    fields,
    /** The fields that are stored in clear text, and shown. */
    names,
    /** The secret fields. */
    secretNames: Object.keys(fields).filter((name) => !isStored(name)) as SecretName<Fields>[],
    defaults: defaultsOf(stored) as Partial<Stored>,
    otherNames: otherNamesOf(fields),
    /** The body of a request, in which every field is optional. */
    body: z.object(
      Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema.optional()])),
    ) as unknown as z.ZodObject<{ [Name in keyof Fields]: z.ZodOptional<Fields[Name]['schema']> }>,
    /**
     * The settings in a row of an object, such as `role web`. Throws what `readStored` throws, also if a required field
     * is missing.
     */
    read: (row: object, object: string): Stored => {
      const settings = readStored(stored, row, object);
      const missing = missingIn(settings);
      if (missing !== undefined) throw unreadable(object, missing, 'is required');
      return settings as Stored;
    },
    /**
     * A change merged into the row of an object. Fields of a newer version are kept: without them, a role could admit
     * more. Throws `invalid` if a required field is missing, and what `readStored` throws for a field that the change
     * does not replace.
     */
    merged: (row: object | undefined, change: SettingsPatch<Fields>, object: string): Stored => {
      const given = Object.entries(change).filter(([name, value]) => isStored(name) && value !== undefined);
      const all = Object.entries({ ...(isObject(row) && row), ...Object.fromEntries(given) });
      const isReset = (name: string) => given.some(([reset, value]) => reset === name && value === null);
      const kept = Object.fromEntries(all.filter(([name]) => !isReset(name)));
      const settings = readStored(stored, kept, object);
      const missing = missingIn(settings);
      if (missing !== undefined) throw invalid(`${missing} is required`);
      return settings as Stored;
    },
    /** Returns the settings that responses contain. */
    shown: (settings: Stored): Stored =>
      Object.fromEntries(Object.entries(settings).filter(([name]) => isStored(name))) as Stored,
  };
}

/** Columns with JSON may hold anything. */
const isObject = (row: unknown): boolean => typeof row === 'object' && row !== null && !Array.isArray(row);

/** The part of a declaration that reading depends on. */
type ReadableFields = Readonly<Record<string, { schema: z.ZodType; default?: unknown }>>;

const defaultsOf = (fields: ReadableFields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => ('default' in field ? [[name, field.default]] : [])),
  );

/**
 * Returns the settings of a row, parsed. Fields that it lacks, because it is older than they are, have their defaults;
 * the order of the others is kept, and so are fields that only a newer version knows.
 *
 * Throws `conflict`, which names the field and `object`, for a value that no request could have set: its default could
 * mean the opposite, such as a role that binds nothing.
 */
export function readStored(fields: ReadableFields, row: object, object: string): Record<string, unknown> {
  if (!isObject(row)) throw new Problem('conflict', `${object}: is not stored as an object; write it again`);
  const settings: Record<string, unknown> = { ...row, ...defaultsOf(fields), ...row };
  for (const name of Object.keys(row)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined)
      settings[name] = parsed(field, settings[name], (why) => unreadable(object, name, why));
  }
  return settings;
}

function parsed(field: ReadableFields[string], value: unknown, refusal: (why: string) => Problem): unknown {
  const { success, data, error } = field.schema.safeParse(value);
  if (success) return data;
  if (JSON.stringify(value) === JSON.stringify(field.default)) return value; // which requests need not be able to set
  throw refusal(error.issues[0]!.message);
}

const unreadable = (object: string, name: string, why: string): Problem =>
  new Problem('conflict', `${object}: the stored ${name} is not valid, so write it again: ${why}`);
