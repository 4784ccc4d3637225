import type { Secret, SecretVersion } from './store/secret.ts';
import { forbidden } from './vault-error.ts';

const DAY_MS = 86_400_000;

/** Built-in policies for secrets whose effect is to deny (https://learn.microsoft.com/azure/key-vault/policy-reference). */
export interface DenyPolicies {
  requiresContentType?: boolean;
  requiresExpiry?: boolean;
  /** Counted from the creation of the version. A secret that does not expire is denied, too. */
  maximumValidityDays?: number;
  minimumDaysBeforeExpiry?: number;
}

type Denies = (policies: DenyPolicies, version: SecretVersion, nowMs: number) => boolean;

const addDays = (ms: number, days: number): number => ms + days * DAY_MS;
const expiryOf = ({ exp }: SecretVersion): number | undefined => (exp === undefined ? undefined : exp * 1000);

/**
 * The conditions under which each policy denies, by its name: the definitions Secrets_ContentTypeSet, Secrets_ExpirationSet,
 * Secrets_ValidityPeriod and Secrets_Expiry_ByDays (https://github.com/Azure/azure-policy/tree/master/built-in-policies/policyDefinitions/Key%20Vault).
 */
const policies: Readonly<Record<string, Denies>> = {
  'Secrets should have content type set': ({ requiresContentType }, { contentType = '' }) =>
    requiresContentType === true && contentType === '',
  'Key Vault secrets should have an expiration date': ({ requiresExpiry }, { exp }) =>
    requiresExpiry === true && exp === undefined,
  'Secrets should have the specified maximum validity period': ({ maximumValidityDays: days }, version) =>
    days !== undefined && (expiryOf(version) ?? Infinity) > addDays(version.createdAtMs, days),
  'Secrets should have more than the specified number of days before expiration': (
    { minimumDaysBeforeExpiry: days },
    version,
    nowMs,
  ) => days !== undefined && (expiryOf(version) ?? Infinity) < addDays(nowMs, days),
};

/**
 * Denies what a new version or an update would leave. Reads and deletions are not evaluated
 * (https://learn.microsoft.com/azure/key-vault/general/azure-policy).
 * @throws VaultError Forbidden
 */
export function requirePermitted(
  assigned: DenyPolicies,
  { name }: Pick<Secret, 'name'>,
  { version, nowMs }: { version: SecretVersion; nowMs: number },
): void {
  const denying = Object.keys(policies).find((policy) => policies[policy]?.(assigned, version, nowMs));
  if (denying === undefined) return;
  throw forbidden(
    'ForbiddenByGovernancePolicy',
    `Secret '${name}' was disallowed by policy. Policy identifiers: [{"policyDefinition":{"name":"${denying}"}}]`,
  );
}
