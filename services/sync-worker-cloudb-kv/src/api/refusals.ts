import type { Refusal } from '@secrets/sync-worker';

const learn = (page: string): string => `https://learn.microsoft.com/${page}`;
const errors = learn('azure/key-vault/general/rest-error-codes');
const unauthenticated = `${errors}#http-401-unauthenticated-request`;
const insufficient = `${errors}#http-403-insufficient-permissions`;
const policies = learn('azure/key-vault/policy-reference');
const rbac = learn('azure/key-vault/general/rbac-guide#known-limits-and-performance');
const accessPolicy = learn('azure/key-vault/general/assign-access-policy');
const network = learn('azure/key-vault/general/network-security');
const softDelete = learn('azure/key-vault/general/soft-delete-overview');
const attributes = learn('azure/key-vault/secrets/about-secrets#secret-attributes');
const setSecret = learn('rest/api/keyvault/secrets/set-secret/set-secret');
const entra = learn('entra/identity-platform/reference-error-codes#aadsts-error-codes');
const federation = learn('entra/workload-id/workload-identity-federation-considerations#errors');

/** The inner code of a refusal by Azure Policy. Its text names the policy that refuses. */
const byPolicy = {
  code: ['ForbiddenByGovernancePolicy'],
  kind: 'rejected_for_now',
  source: policies,
} as const;

/** Built-in policies for secrets that can deny a write, by words of their names. */
const ofPolicies: readonly Refusal[] = [
  {
    ...byPolicy,
    text: /content type/i,
    sentence: 'a policy denies secrets without a content type',
    remedy: 'set content_type',
  },
  {
    ...byPolicy,
    text: /have an expiration date/i,
    sentence: 'a policy denies secrets that do not expire',
    remedy: 'set expires_after',
  },
  {
    ...byPolicy,
    text: /maximum validity period/i,
    sentence: 'a policy denies secrets that do not expire, or are valid for so long',
    remedy: 'set expires_after to less than its maximum',
  },
  {
    ...byPolicy,
    text: /active for longer/i,
    sentence: 'a policy denies secrets that have been active for so long',
    remedy: 'give the secret a later activation date in the vault',
  },
  {
    ...byPolicy,
    text: /days before expiration/i,
    sentence: 'a policy denies secrets that expire so soon',
    remedy: 'set expires_after to more than its minimum',
  },
  {
    ...byPolicy,
    sentence: 'a policy of the subscription denies the secret',
    remedy: 'look for the policy at the vault, and exempt the vault or change the settings',
  },
];

const ofPermissions: readonly Refusal[] = [
  {
    code: ['ForbiddenByRbac'],
    kind: 'forbidden',
    sentence: 'permission denied: no role of the credentials includes this call',
    remedy: 'assign a role such as Key Vault Secrets Officer, which takes effect within minutes',
    source: rbac,
  },
  {
    code: ['ForbiddenByPolicy', 'AccessDenied'],
    kind: 'forbidden',
    sentence: 'permission denied: the access policy of the vault does not include this call',
    remedy: 'add the permission for secrets to the access policy',
    source: accessPolicy,
  },
  {
    code: ['ForbiddenByFirewall'],
    kind: 'forbidden',
    sentence: "the vault's firewall refuses the address of the worker",
    remedy: 'permit the address, or the network of the worker',
    source: network,
  },
  {
    code: ['ForbiddenByConnection'],
    kind: 'forbidden',
    sentence: 'the vault permits only private connections, and the worker has none',
    remedy: "connect the worker's network to the vault's private endpoint, or enable public access",
    source: network,
  },
  {
    code: ['SecretDisabled'],
    kind: 'rejected_for_now',
    sentence: 'the secret is disabled in the vault',
    remedy: 'enable or delete it there',
    source: attributes,
  },
  {
    status: [403],
    text: /client address .* is not authorized/i,
    kind: 'forbidden',
    sentence: "the vault's firewall refuses the address of the worker",
    remedy: 'permit the address, or the network of the worker',
    source: `${errors}#error-due-to-firewall-policy`,
  },
  {
    status: [403],
    kind: 'forbidden',
    sentence: 'permission denied',
    remedy: 'grant the permission for this call; it takes effect within minutes',
    source: insufficient,
  },
];

const ofTokens: readonly Refusal[] = [
  {
    status: [401],
    text: /invalid issuer/i,
    kind: 'unauthenticated',
    sentence: 'the vault does not belong to the tenant of the credentials',
    remedy: 'check tenant_id',
    source: unauthenticated,
  },
  {
    status: [401],
    kind: 'unauthenticated',
    sentence: 'the credentials were not accepted',
    remedy: 'check tenant_id, client_id and cloud',
    source: unauthenticated,
  },
];

const ofStates: readonly Refusal[] = [
  {
    code: ['ObjectIsBeingDeleted', 'ObjectIsBeingRecovered', 'ObjectIsBeingPurged'],
    kind: 'not_ready',
    sentence: 'the secret is being deleted, recovered or purged',
    source: softDelete,
  },
  {
    code: ['ObjectIsDeletedButRecoverable'],
    kind: 'not_ready',
    sentence: 'a deleted secret has the name',
    source: softDelete,
  },
  {
    status: [409],
    kind: 'not_ready',
    sentence: 'another change of the secret is under way',
    source: setSecret,
  },
  {
    status: [404],
    kind: 'rejected_for_now',
    sentence: 'the vault or the secret does not exist',
    remedy: 'check key_vault_uri',
    source: setSecret,
  },
  {
    status: [400],
    kind: 'rejected',
    sentence: 'the name, the value, a tag or a date breaks a rule of the vault',
    remedy: 'see the rules of the type',
    source: learn('azure/key-vault/general/about-keys-secrets-certificates'),
  },
  {
    status: [429],
    kind: 'throttled',
    sentence: 'too many requests',
    source: learn('azure/key-vault/general/overview-throttling'),
  },
  {
    status: [500, 502, 503, 504],
    kind: 'unavailable',
    sentence: 'the service is unavailable',
    source: learn('azure/key-vault/general/disaster-recovery-guidance'),
  },
];

const ofApplication = { kind: 'unauthenticated', source: entra } as const;
const ofFederation = { kind: 'unauthenticated', source: federation } as const;

/** By the code that the response of the directory lists first in `error_codes`. */
const ofDirectory: readonly Refusal[] = [
  {
    ...ofApplication,
    code: ['AADSTS7000215'],
    sentence: 'client_secret is wrong',
    remedy: 'write the value of the secret, not its ID',
  },
  {
    ...ofApplication,
    code: ['AADSTS7000222'],
    sentence: 'client_secret has expired',
    remedy: 'create another one at the app registration, and write it',
  },
  {
    ...ofApplication,
    code: ['AADSTS700016'],
    sentence: 'the tenant has no application with this client_id',
    remedy: 'check client_id and tenant_id',
  },
  {
    ...ofApplication,
    code: ['AADSTS90002', 'AADSTS900023'],
    sentence: 'there is no such tenant in the configured cloud',
    remedy: 'check tenant_id and cloud',
  },
  {
    ...ofApplication,
    code: ['AADSTS7000112'],
    sentence: 'the application is disabled in the tenant',
    remedy: 'enable it there',
  },
  {
    ...ofApplication,
    code: ['AADSTS500011'],
    sentence: 'the tenant does not know key vaults as a resource',
    remedy: 'check tenant_id and cloud',
  },
  {
    ...ofApplication,
    code: ['AADSTS53003'],
    sentence: 'a policy for conditional access blocks the application',
    remedy: 'exclude the application, or permit the address of the worker',
  },
  {
    ...ofFederation,
    code: ['AADSTS70021', 'AADSTS700211', 'AADSTS700212', 'AADSTS700213'],
    sentence:
      'no federated credential of the application has the issuer, subject and audience of the identity token',
    remedy: 'compare them; a new one takes effect within minutes',
  },
  {
    ...ofApplication,
    code: ['AADSTS700024'],
    sentence: 'the identity token is not valid at this time',
    remedy: 'check the clocks of login and of the directory',
  },
  {
    ...ofApplication,
    code: ['AADSTS50196', 'AADSTS90055'],
    kind: 'throttled',
    sentence: 'too many requests for tokens',
  },
  { ...ofApplication, code: ['AADSTS90033'], kind: 'unavailable', sentence: 'the directory is unavailable' },
  {
    ...ofApplication,
    text: /AADSTS/,
    sentence: 'the credentials were not accepted',
    remedy: 'write a valid client_secret, or check the federated credential',
  },
];

/**
 * The documented errors of every call of the driver: requests for tokens, and the calls with the permissions Get, Set, Delete,
 * Recover and Purge. The first that matches counts.
 */
export const refusals: readonly Refusal[] = [
  ...ofDirectory,
  ...ofTokens,
  ...ofPolicies,
  ...ofPermissions,
  ...ofStates,
];
