/** Returns the key of a secret whose value the external secret of a sub-key has; empty for all of the data as JSON. */
export const pushedKey = (
  { value_key: key = '' }: Readonly<Record<string, unknown>>,
  subKey: string,
): string => (subKey === '' ? String(key) : subKey);
