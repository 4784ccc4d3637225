/** How a destination of a type is created whose store is the sandbox. */
export interface SandboxType {
  type: string;
  /** The fields of the destination, from what the sandbox says of its store. */
  fields(credentials: Record<string, string>): object;
}

/** Every destination type. */
export const sandboxTypes: readonly SandboxType[] = [
  {
    type: 'cloudA-sm',
    fields: ({ accessKeyId, secretAccessKey }) => ({
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
      region: 'eu-west-1',
    }),
  },
  { type: 'cloudC-sm', fields: ({ credentials }) => ({ credentials }) },
];
