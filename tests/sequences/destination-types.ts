/** How a test creates destinations of a type in the sandbox. */
export interface TypeForTest {
  type: string;
  /** The fields of a destination, from what the sandbox says of its store. */
  fields(credentials: Record<string, string>): object;
}

/** Every destination type. Their names are letters and digits here, which all of them accept. */
export const typesForTest: readonly TypeForTest[] = [
  {
    type: 'cloudA-sm',
    fields: ({ accessKeyId, secretAccessKey }) => ({
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
      region: 'eu-west-1',
    }),
  },
];
