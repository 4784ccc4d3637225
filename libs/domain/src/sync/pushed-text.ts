/** What an external secret of a single key contains: a string as it is, anything else as JSON. */
export const pushedText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
