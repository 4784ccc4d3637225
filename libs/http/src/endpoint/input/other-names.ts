import { z } from 'zod';

/** Other names of fields by their own name. */
type OtherNames = Readonly<Record<string, string>>;

const declared = new WeakMap<z.ZodType, OtherNames>();

/** The other names that a schema accepts; policies that restrict parameters are evaluated by them (`path-rules.json`). */
export const otherNamesIn = (schema: z.ZodType | undefined): OtherNames =>
  (schema && declared.get(schema)) ?? {};

/**
 * A schema of an object that accepts those of its fields that have another name by that one as well. What it parses to
 * has their own names only; if a request has both, the own name takes precedence.
 */
export function withOtherNames<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, given: OtherNames) {
  const fields: Readonly<Record<string, unknown>> = schema.shape;
  const names = Object.entries(given).filter(([own]) => Object.hasOwn(fields, own));
  const others = Object.fromEntries(
    names.map(([own, other]) => [
      other,
      (fields[own] as z.ZodType).optional().meta({ description: `Another name of \`${own}\`` }),
    ]),
  );
  const toOwnNames = (sent: Record<string, unknown>) => {
    const parsed = { ...sent };
    for (const [own, other] of names) {
      if (parsed[own] === undefined && parsed[other] !== undefined) parsed[own] = parsed[other];
      delete parsed[other];
    }
    return parsed;
  };
  const meta = z.globalRegistry.get(schema) ?? {};
  const extended: z.ZodType<Record<string, unknown>> = schema.extend(others).meta(meta);
  const named = extended.transform(toOwnNames) as unknown as z.ZodType<z.output<z.ZodObject<Shape>>>;
  declared.set(named, Object.fromEntries(names));
  return named;
}
