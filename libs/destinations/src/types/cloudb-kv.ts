import type { Json } from '@secrets/domain';
import { z } from 'zod';
import type { DestinationDescription } from '../description.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';
import { builtInTagCount } from '../tags/built-in-tags.ts';
import { canonicalVaultUri, clouds, isCloudVault, isPrivateVault } from './cloudb-hosts.ts';
import { commonDefaults, commonFields, secretText, tagFields, text, textLike } from './common-fields.ts';

import {
  federationConnectionFields,
  federationDefaults,
  federationFields,
  federationProblems,
} from './federation-fields.ts';
import { withHelp } from './field-help.ts';

const maxNameLength = 127;
const idForm = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;

const fields = z.object({
  ...withHelp(
    {
      key_vault_uri: text(2048)
        .transform(canonicalVaultUri)
        .meta({ pattern: '^(?:https://[a-z][a-z0-9]{2,20}\\.vault\\.azure\\.net/?)?$' }),
      tenant_id: textLike(idForm, 'must be the ID or the domain of a tenant'),
      client_id: textLike(/^[A-Za-z0-9-]{1,64}$/, 'must be the client ID of an app registration'),
      client_secret: secretText(1024),
      cloud: z.enum(clouds, { error: `must be one of ${clouds.join(', ')}` }),
    },
    {
      key_vault_uri: 'URI of an existing key vault, such as https://name.vault.azure.net.',
      tenant_id: 'Tenant of the vault: its ID, or one of its domains.',
      client_id: 'Client ID of the app registration. Without it, the identity of the worker is used.',
      client_secret: 'Client secret of the app registration; requires client_id.',
      cloud: 'Cloud that the vault is in.',
    },
  ),
  ...federationFields,
  ...tagFields,
  ...commonFields,
});

/** cloudB-kv: key vaults (docs/conventions.md#516-cloudb-kv; the provider's service limits). */
export const cloudBKv: DestinationDescription = {
  type: 'cloudB-kv',
  fields,
  defaults: {
    key_vault_uri: '',
    tenant_id: '',
    client_id: '',
    cloud: 'cloud',
    ...federationDefaults,
    custom_tags: {},
    ...commonDefaults('secret-path'),
  },
  secretFields: ['client_secret'],
  connectionFields: [
    'key_vault_uri',
    'tenant_id',
    'client_id',
    'client_secret',
    'cloud',
    ...federationConnectionFields,
  ],
  immutableFields: ['key_vault_uri', 'tenant_id', 'cloud'],
  supportsTags: true,
  tagRule: { maxCustomTags: 15 - builtInTagCount, check: checkTag },
  maxValueBytes: 25_600,
  takesEmptyValue: true,
  account: ({ key_vault_uri }) => [key_vault_uri],
  // A vault permits 300 new versions in 10 seconds, and 4,000 of all other calls
  // (https://learn.microsoft.com/azure/key-vault/general/service-limits). A put is a read and a new version, so the versions are what
  // limits it: 50 at once and 25 a second are 300 in any 10 seconds.
  budget: { perSecond: 25, burst: 50 },
  nameRule: {
    defaultTemplate: (prefix, granularity) =>
      `${prefix}-{{ .MountAccessor }}-{{ .SecretPath }}${granularity === 'secret-key' ? '-{{ .SecretKey }}' : ''}`,
    normalise: (name) => truncateSha256(name.toLowerCase().replace(/[^a-z0-9-]/gu, '-'), maxNameLength),
    check: checkName,
    collisionKey: (name) => name.toLowerCase(),
  },
  check: checkTogether,
};

function checkName(name: string): string | undefined {
  if (name.length < 1 || name.length > maxNameLength)
    return `must have 1 to ${maxNameLength} characters, and has ${name.length}`;
  return /^[A-Za-z0-9-]+$/.test(name) ? undefined : 'may only contain letters, digits and -';
}

function checkTag(key: string, value: string): string | undefined {
  if (key.length < 1 || key.length > 256) return 'must have a key of 1 to 256 characters';
  return value.length > 256 ? 'must have a value of at most 256 characters' : undefined;
}

function checkTogether(settings: Readonly<Record<string, Json>>, credentials: ReadonlySet<string>): string[] {
  const problems = [
    whyVaultRefused(String(settings.key_vault_uri), String(settings.cloud)),
    settings.tenant_id === '' && 'tenant_id: is required',
    credentials.has('client_secret') && settings.client_id === '' && 'client_secret: requires client_id',
    ...federationProblems(settings, credentials, { requires: ['client_id'], excludes: ['client_secret'] }),
  ];
  return problems.filter((problem) => typeof problem === 'string');
}

/** A destination must not make the service send tokens and secrets to any host: the worker permits a private one only if the operator does. */
function whyVaultRefused(uri: string, cloud: string): string | undefined {
  if (uri === '') return 'key_vault_uri: is required';
  if (isCloudVault(uri, cloud) || isPrivateVault(uri)) return undefined;
  return 'key_vault_uri: must be the URI of a vault in the configured cloud, such as https://name.vault.azure.net';
}
