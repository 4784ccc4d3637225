/** How a destination of a type is created whose store is the sandbox. */
export interface SandboxType {
  type: string;
  /** The fields of the destination, from what the sandbox says of its store. */
  fields(credentials: Record<string, string>): object;
  /** Fields that place a destination in another account of the store, where it has more than one. */
  otherAccount?: object;
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
    otherAccount: { region: 'eu-central-1' },
  },
  {
    type: 'cloudB-kv',
    fields: ({ keyVaultUri, tenantId, clientId, clientSecret }) => ({
      key_vault_uri: keyVaultUri,
      tenant_id: tenantId,
      client_id: clientId,
      client_secret: clientSecret,
    }),
    otherAccount: { key_vault_uri: 'https://neighbour.vault.azure.net' },
  },
  { type: 'cloudC-sm', fields: ({ credentials }) => ({ credentials }) },
  {
    type: 'codehost',
    fields: ({ accessToken }) => ({
      access_token: accessToken,
      // A repository can have 100 secrets, an organization 1,000.
      secrets_location: 'organization',
      organization_name: 'acme',
    }),
  },
  {
    type: 'webhost-project',
    fields: ({ accessToken, projectId }) => ({
      access_token: accessToken,
      project_id: projectId,
      deployment_environments: ['preview', 'production'],
    }),
    otherAccount: { project_id: 'sandbox-team', team_id: 'team_sandbox' },
  },
];
