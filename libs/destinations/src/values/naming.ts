import { Problem } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import { templateProblem, valueKeyProblem } from '../request/naming-problems.ts';

/** The fields of a destination that a rule may have in their place for what it associates. */
export const namingFields = ['secret_name_template', 'granularity', 'value_key'] as const;

/** The names, the granularity and the key that are used in place of those of the destination. */
export type Naming = Readonly<Partial<Record<(typeof namingFields)[number], string>>>;

/** Returns a naming from a column, without what this version does not know. */
export const storedNaming = (stored: unknown): Naming =>
  Object.fromEntries(
    namingFields.flatMap((field) => {
      const value = (stored as Record<string, unknown> | null)?.[field];
      return typeof value === 'string' ? [[field, value]] : [];
    }),
  );

/** Throws `invalid`, which names each field that a destination of this type with these settings could not have. */
export function requireNaming(
  description: DestinationDescription,
  settings: Readonly<Record<string, unknown>>,
  naming: Naming,
): void {
  const parsed = description.body.safeParse(naming);
  const merged = { ...settings, ...naming } as Parameters<typeof templateProblem>[1];
  const problems = parsed.success
    ? [...templateProblem(description, merged), ...valueKeyProblem(merged)]
    : parsed.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`);
  const [first, ...also] = problems;
  if (first !== undefined) throw new Problem('invalid', first, { also });
}
