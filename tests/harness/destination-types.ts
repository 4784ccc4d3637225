import { findDescription } from '@secrets/destinations';

/** Describes how to create a destination of a type with the sandbox as its store. */
export interface SandboxType {
  type: string;
  /** The fields of the destination, from what the sandbox says of its store. */
  fields(credentials: Record<string, string>): object;
  /** Fields that place a destination in another account of the store, where it has more than one. */
  otherAccount?: object;
  /** The operations of the store of which each put of an entry makes one. */
  puts: readonly string[];
  /** How many external secrets one place of the store can hold, if fewer than 10,000. */
  maxEntries?: number;
}

/**
 * Returns the template, which has lower-case letters, digits and actions, as the type permits it: in upper case if its
 * names have no lower-case letters. The sandbox finds names in either case.
 */
export function templateFor(type: string, template: string): string {
  if (findDescription(type).nameRule.check('name') === undefined) return template;
  return template
    .split(/(?=\{\{)|(?<=\}\})/)
    .map((part) => (part.startsWith('{{') ? part.replace(/ *\}\}$/, ' | uppercase }}') : part.toUpperCase()))
    .join('');
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
    puts: ['CreateSecret', 'PutSecretValue'],
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
    puts: ['SetSecret'],
  },
  { type: 'cloudC-sm', fields: ({ credentials }) => ({ credentials }), puts: ['AddSecretVersion'] },
  {
    type: 'codehost',
    fields: ({ accessToken }) => ({
      access_token: accessToken,
      // A repository can have 100 secrets, an organization 1,000.
      secrets_location: 'organization',
      organization_name: 'acme',
    }),
    puts: ['createOrUpdateOrgSecret'],
    maxEntries: 100,
  },
  {
    type: 'webhost-project',
    fields: ({ accessToken, projectId }) => ({
      access_token: accessToken,
      project_id: projectId,
      deployment_environments: ['preview', 'production'],
    }),
    otherAccount: { project_id: 'sandbox-team', team_id: 'team_sandbox' },
    puts: ['createProjectEnv', 'editProjectEnv'],
    maxEntries: 100,
  },
];

/**
 * The environment in which the service does not wait for the budgets of the types. The smallest one is a call per second,
 * and a test that is about something else would spend most of its time on that.
 */
export const withoutBudgets = {
  BUDGETS: sandboxTypes.map(({ type }) => `${type}=100000`).join(','),
};
