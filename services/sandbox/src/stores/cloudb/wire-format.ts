import { type HttpResponse, jsonResponse } from '../../simulation/http-response.ts';
import { newestOf, type Secret, type SecretVersion } from './store/secret.ts';
import type { VaultStore } from './store/vault-store.ts';
import type { VaultError } from './vault-error.ts';

/** Settings of the vaults that their responses show. */
export interface BundleContext {
  retentionDays: number;
  purgeProtection: boolean;
}

const seconds = (ms: number) => Math.floor(ms / 1000);

/** A secret with its value: https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret/get-secret#secretbundle */
export const secretBundle = (
  context: BundleContext,
  vault: VaultStore,
  secret: Secret,
  version: SecretVersion,
) => ({ value: version.value, ...secretItem(context, vault, secret, version, version.id) });

/** A secret without its value. The ID of a list's item contains the version only in a list of versions. */
export const secretItem = (
  { retentionDays, purgeProtection }: BundleContext,
  { host }: VaultStore,
  { name, managed }: Secret,
  { id, contentType, tags, enabled, nbf, exp, createdAtMs, updatedAtMs }: SecretVersion,
  shownVersion = '',
) => ({
  id: `https://${host}/secrets/${name}${shownVersion === '' ? '' : `/${shownVersion}`}`,
  contentType,
  attributes: {
    enabled,
    nbf,
    exp,
    created: seconds(createdAtMs),
    updated: seconds(updatedAtMs),
    recoveryLevel: purgeProtection ? 'Recoverable' : 'Recoverable+Purgeable',
    recoverableDays: retentionDays,
  },
  tags,
  ...(managed ? { managed, kid: `https://${host}/keys/${name}/${id}` } : {}),
});

export const deletedBundle = (context: BundleContext, vault: VaultStore, secret: Secret) => ({
  recoveryId: `https://${vault.host}/deletedsecrets/${secret.name}`,
  deletedDate: seconds(secret.deletedAtMs ?? 0),
  scheduledPurgeDate: seconds(secret.purgeAtMs ?? 0),
  ...secretBundle(context, vault, secret, newestOf(secret)),
  value: undefined,
});

/** The response to an error that the service reports. */
export function errorResponse(error: VaultError, headers: Record<string, string> = {}): HttpResponse {
  const { status, code, message, innerCode } = error;
  const inner = innerCode === undefined ? {} : { innererror: { code: innerCode } };
  return jsonResponse(status, { error: { code, message, ...inner } }, headers);
}
