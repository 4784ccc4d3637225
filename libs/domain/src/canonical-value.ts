const values: ReadonlyMap<string, string> = new Map([
  ['azure', 'cloudb'], // type of an auth mount
  ['oidc', 'jwt'],
  ['kv-v2', 'kv'], // type of a mount
  ['azurepubliccloud', 'public'], // environment of a login method
  ['azurechinacloud', 'china'],
  ['azureusgovernmentcloud', 'usgovernment'],
]);

/**
 * The own name of a value in lower case that has another one (docs/conventions/http.md#alternative-names), apart from
 * destination types.
 */
export const canonicalValue = (given: string): string => values.get(given) ?? given;
