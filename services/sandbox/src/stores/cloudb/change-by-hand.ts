import { randomUUID } from 'node:crypto';
import type { HandChange } from '../simulated-store.ts';
import { newestOf, type Secret, type SecretVersion } from './store/secret.ts';
import type { VaultStore } from './store/vault-store.ts';
import type { Vaults } from './store/vaults.ts';

interface Context {
  nowMs: number;
  /** The recovery window. */
  retentionMs: number;
}

/** Changes every secret with this name that is not deleted. A new version has the tags of the one before. */
export function changeByHand(vaults: Vaults, change: HandChange, context: Context): number {
  const changed = vaults
    .all()
    .filter(({ host }) => change.region === undefined || host === change.region)
    .map((vault) => [vault, vault.get(change.name)] as const)
    .filter(([, secret]) => secret && secret.deletedAtMs === undefined && secret.transition === undefined);
  for (const [vault, secret] of changed) apply(vault, secret!, change, context);
  return changed.length;
}

function apply(vault: VaultStore, secret: Secret, change: HandChange, { nowMs, retentionMs }: Context): void {
  if (change.action === 'edit') {
    write(vault, secret, { ...newestOf(secret), value: change.value }, nowMs);
    return;
  }
  const purgeAtMs = change.action === 'delete' ? nowMs + retentionMs : nowMs;
  vault.save(Object.assign(secret, { deletedAtMs: nowMs, purgeAtMs }));
  if (change.action === 'delete') return;
  const { name } = secret;
  vault.get(name); // purges it
  const another = { name, versions: new Map(), newest: '', managed: false };
  write(vault, another, { value: change.value, tags: {}, enabled: true }, nowMs);
}

function write(
  vault: VaultStore,
  secret: Secret,
  content: Omit<SecretVersion, 'id' | 'createdAtMs' | 'updatedAtMs'>,
  nowMs: number,
): void {
  const id = randomUUID().replaceAll('-', '');
  secret.newest = id;
  vault.save(secret, { ...content, id, createdAtMs: nowMs, updatedAtMs: nowMs });
}
