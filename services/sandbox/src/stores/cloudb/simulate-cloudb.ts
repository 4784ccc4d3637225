import { observeCalls } from '../../simulation/observe-calls.ts';
import type { SimulatedStore, StoreContext, StoredSecret } from '../simulated-store.ts';
import { changeByHand } from './change-by-hand.ts';
import { newestOf, type Secret } from './store/secret.ts';
import type { VaultRecord } from './store/vault-store.ts';
import { defaultVault, Vaults } from './store/vaults.ts';
import type { DenyPolicies } from './vault-policies.ts';
import { vaultRoutes } from './vault-routes.ts';

const NAME = 'cloudB-kv';

export interface CloudBOptions {
  /** How long a secret is being deleted. Default 300. */
  deletionMs?: number;
  /** How long a deleted secret is being recovered. Default 300. */
  recoveryMs?: number;
  /** How long a purge takes. Default 300. */
  purgeMs?: number;
  /** How long deleted secrets are kept, 7 to 90 days. Default 90. */
  retentionDays?: number;
  /** Whether deleted secrets cannot be purged. Default false. */
  purgeProtection?: boolean;
  /** Policies of the vaults that deny; none by default. */
  policies?: DenyPolicies;
  /** The addresses that the firewall of the vaults permits. By default, there is none. */
  permittedAddresses?: readonly string[];
}

export interface CloudB extends SimulatedStore {
  readonly credentials: Readonly<{
    keyVaultUri: string;
    tenantId: string;
    clientId: string;
    clientSecret: string;
  }>;
  /** Creates the secret of a certificate, which no client can do through this API. */
  importCertificate(name: string, value: string, vaultHost?: string, enabled?: boolean): void;
}

/** Simulates the key vaults of cloudB. They accept the tokens of the simulated directory. */
export function simulateCloudB(
  { now, persist, directory }: StoreContext,
  options: CloudBOptions = {},
): CloudB {
  const {
    deletionMs = 300,
    recoveryMs = 300,
    purgeMs = 300,
    retentionDays = 90,
    purgeProtection = false,
    policies = {},
    permittedAddresses,
  } = options;
  const vaults = new Vaults(persist, now);
  const calls = observeCalls(NAME, now);
  const { clientId, clientSecret } = directory.application;
  return {
    ...calls.members,
    path: '/cloudb',
    routes: vaultRoutes({
      calls: calls.context,
      directory,
      vaults,
      settings: { deletionMs, recoveryMs, purgeMs, retentionDays, purgeProtection, policies },
      permittedAddresses,
    }),
    credentials: {
      keyVaultUri: `https://${defaultVault}`,
      tenantId: directory.tenantId,
      clientId,
      clientSecret,
    },
    secrets: () =>
      vaults.all().flatMap((vault) => vault.all().map((secret) => storedSecret(vault.host, secret))),
    changeByHand: (change) =>
      changeByHand(vaults, change, { nowMs: now(), retentionMs: retentionDays * 86_400_000 }),
    importCertificate: (name, value, vaultHost = defaultVault, enabled = true) =>
      importCertificate(vaults, { name, value, vaultHost, enabled, nowMs: now() }),
    reset: () => {
      vaults.clear();
      calls.clear();
      persist({ cleared: true });
    },
    replay: (record) => ('cleared' in record ? vaults.clear() : vaults.replay(record as VaultRecord)),
    snapshot: () => vaults.snapshot(),
  };
}

function importCertificate(
  vaults: Vaults,
  {
    name,
    value,
    vaultHost,
    enabled,
    nowMs,
  }: { name: string; value: string; vaultHost: string; enabled: boolean; nowMs: number },
): void {
  const version = {
    id: '0'.repeat(32),
    value,
    contentType: 'application/x-pem-file',
    tags: {},
    enabled,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  vaults.of(vaultHost).save({ name, versions: new Map(), newest: version.id, managed: true }, version);
}

function storedSecret(host: string, secret: Secret): StoredSecret {
  const { value, tags, updatedAtMs } = newestOf(secret);
  return {
    name: secret.name,
    region: host,
    value,
    tags,
    version_count: secret.versions.size,
    deleted_at: secret.deletedAtMs === undefined ? null : new Date(secret.purgeAtMs ?? 0).toISOString(),
    updated_at: new Date(secret.deletedAtMs ?? updatedAtMs).toISOString(),
  };
}
