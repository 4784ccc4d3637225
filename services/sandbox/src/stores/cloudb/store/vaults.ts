import { badParameter, VaultError } from '../vault-error.ts';
import { type VaultRecord, VaultStore } from './vault-store.ts';

const MAX_VAULTS = 200;
const MAX_BYTES = 1024 * 1024 * 1024;
const VAULT_HOST =
  /^[a-z][a-z0-9-]{1,22}[a-z0-9]\.(vault\.azure\.net|vault\.azure\.cn|vault\.usgovcloudapi\.net)$/;

/** The vault of requests that do not name one. */
export const defaultVault = 'sandbox.vault.azure.net';

/** The vaults, by host name. A vault is created by the first request to it. */
export class Vaults {
  readonly #vaults = new Map<string, VaultStore>();
  readonly #persist: (record: VaultRecord) => void;
  readonly #now: () => number;

  constructor(persist: (record: VaultRecord) => void, now: () => number) {
    this.#persist = persist;
    this.#now = now;
  }

  /**
   * Returns the vault of this host. Every host that is not a vault's is the default vault, so that the sandbox can be
   * reached under any name.
   * @throws VaultError if there are too many vaults
   */
  of(host: string): VaultStore {
    const name = VAULT_HOST.test(host.toLowerCase()) ? host.toLowerCase() : defaultVault;
    const existing = this.#vaults.get(name);
    if (existing) return existing;
    if (this.#vaults.size >= MAX_VAULTS)
      throw badParameter(`The sandbox is limited to ${MAX_VAULTS} vaults.`);
    const vault = new VaultStore(name, this.#persist, this.#now);
    this.#vaults.set(name, vault);
    return vault;
  }

  all(): VaultStore[] {
    return [...this.#vaults.values()];
  }

  /** @throws VaultError if the sandbox is full */
  requireCapacity(): void {
    const bytes = this.all().reduce((sum, vault) => sum + vault.bytes, 0);
    if (bytes >= MAX_BYTES)
      throw new VaultError(500, 'InternalServerError', 'The sandbox is limited to 1 GiB.');
  }

  replay(record: VaultRecord): void {
    this.of(record.vault).replay(record);
  }

  *snapshot(): Generator<VaultRecord> {
    for (const vault of this.all()) yield* vault.snapshot();
  }

  clear(): void {
    this.#vaults.clear();
  }
}
