import { seconds } from '@secrets/domain';
import { z } from 'zod';
import { describeType } from '../description.ts';
import { commonFields, secretText, tagFields, text, textLike } from '../fields/common-fields.ts';
import { federationFields, federationProblems } from '../fields/federation-fields.ts';
import { connection, option, type SettingsOf, secret } from '../fields/field.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';
import { builtInTagCount } from '../tags/built-in-tags.ts';
import { canonicalVaultUri, clouds, isCloudVault, isPrivateVault } from './cloudb-hosts.ts';

const maxNameLength = 127;
const idForm = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/;

const certificateTypes: readonly string[] = ['application/x-pkcs12', 'application/x-pem-file'];

/** Whether a secret of this content type is the private part of a certificate, which the vault manages itself. */
export const isCertificateType = (contentType: string): boolean =>
  certificateTypes.includes(contentType.toLowerCase());

const hourSeconds = 3_600;
const tenYearsSeconds = 87_600 * hourSeconds;

const expiry = seconds
  .refine(
    (given) => given === 0 || (given >= hourSeconds && given <= tenYearsSeconds),
    'must be 0 (no expiry), or between 1h and 87600h',
  )
  .meta({ anyOf: [{ const: 0 }, { type: 'integer', minimum: hourSeconds, maximum: tenYearsSeconds }] });

const fields = {
  key_vault_uri: connection(
    text(2048)
      .transform(canonicalVaultUri)
      .meta({ pattern: '^(?:https://[a-z][a-z0-9]{2,20}\\.vault\\.azure\\.net/?)?$' }),
    {
      default: '',
      immutable: true,
      help: 'URI of an existing key vault, such as https://name.vault.azure.net.',
    },
  ),
  tenant_id: connection(textLike(idForm, 'must be the ID or the domain of a tenant'), {
    default: '',
    immutable: true,
    help: 'Tenant of the vault: its ID, or one of its domains.',
  }),
  client_id: connection(textLike(/^[A-Za-z0-9-]{1,64}$/, 'must be the client ID of an app registration'), {
    default: '',
    credential: true,
    help: 'Client ID of the app registration. Without it, the identity of the worker is used.',
  }),
  client_secret: secret(secretText(1024), {
    help: 'Client secret of the app registration; requires client_id.',
  }),
  cloud: connection(z.enum(clouds, { error: `must be one of ${clouds.join(', ')}` }), {
    default: 'cloud',
    shownUnset: '',
    immutable: true,
    help: 'Cloud that the vault is in.',
  }),
  content_type: option(text(255), {
    default: '',
    pushed: true,
    help: 'Content type of the external secrets, such as text/plain. Without it, they keep the one that others have set.',
  }),
  expires_after: option(expiry, {
    default: 0,
    pushed: true,
    help: 'How long after it was written a version expires, such as 90d. Without it, external secrets keep the expiry that others have set.',
  }),
  ...federationFields,
  ...tagFields,
  ...commonFields('secret-path'),
};

/** The stored settings of a destination. */
export type CloudBSettings = SettingsOf<typeof fields>;

/** cloudB-kv: key vaults (docs/destinations/cloudb-kv.md; the provider's service limits). */
export const cloudBKv = describeType({
  type: 'cloudB-kv',
  fields,
  supportsTags: true,
  tagRule: { maxCustomTags: 15 - builtInTagCount, check: checkTag },
  maxValueBytes: 25_600,
  takesEmptyValue: true,
  account: ({ key_vault_uri }) => [key_vault_uri],
  // A vault permits 300 new versions in 10 seconds, and 4,000 of all other calls
  // (https://learn.microsoft.com/azure/key-vault/general/service-limits). A put is a read and a new version, so the
  // versions are what limits it: 50 at once and 25 a second are 300 in any 10 seconds.
  budget: { perSecond: 25, burst: 50 },
  looksByList: true,
  nameRule: {
    defaultTemplate: (prefix, granularity) =>
      `${prefix}-{{ .MountAccessor }}-{{ .SecretPath }}${granularity === 'secret-key' ? '-{{ .SecretKey }}' : ''}`,
    normalise: (name) => truncateSha256(name.toLowerCase().replace(/[^a-z0-9-]/gu, '-'), maxNameLength),
    check: checkName,
    collisionKey: (name) => name.toLowerCase(),
  },
  check: checkTogether,
});

function checkName(name: string): string | undefined {
  if (name.length < 1 || name.length > maxNameLength)
    return `must have 1 to ${maxNameLength} characters, and has ${name.length}`;
  return /^[A-Za-z0-9-]+$/.test(name) ? undefined : 'may only contain letters, digits and -';
}

function checkTag(key: string, value: string): string | undefined {
  if (key.length < 1 || key.length > 256) return 'must have a key of 1 to 256 characters';
  return value.length > 256 ? 'must have a value of at most 256 characters' : undefined;
}

function checkTogether(settings: CloudBSettings, credentials: ReadonlySet<string>): string[] {
  const problems = [
    whyVaultRefused(settings.key_vault_uri, settings.cloud),
    settings.tenant_id === '' && 'tenant_id: is required',
    isCertificateType(settings.content_type) &&
      'content_type: must not be one of certificates, which the vault manages itself',
    credentials.has('client_secret') && settings.client_id === '' && 'client_secret: requires client_id',
    ...federationProblems(settings, credentials, { requires: ['client_id'], excludes: ['client_secret'] }),
  ];
  return problems.filter((problem) => typeof problem === 'string');
}

/**
 * A destination must not make the service send tokens and secrets to any host: the worker permits a private one only if
 * the operator does.
 */
function whyVaultRefused(uri: string, cloud: string): string | undefined {
  if (uri === '') return 'key_vault_uri: is required';
  if (isCloudVault(uri, cloud) || isPrivateVault(uri)) return undefined;
  return 'key_vault_uri: must be the URI of a vault in the configured cloud, such as https://name.vault.azure.net';
}
