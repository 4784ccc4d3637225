/** Returns the text of an external secret that holds a single key: a string unchanged, anything else as JSON. */
export const pushedText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
