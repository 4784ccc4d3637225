/**
 * Fields that may be null have no type in the description of the API. These return undefined for null, and for any
 * other type.
 */
export const textOf = (field: unknown): string | undefined => (typeof field === 'string' ? field : undefined);

export const numberOf = (field: unknown): number | undefined =>
  typeof field === 'number' ? field : undefined;
