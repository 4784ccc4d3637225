import type { RowSource } from '@secrets/access';
import { isAdministrative } from '@secrets/caller';
import { identityTokenSeconds, Problem } from '@secrets/domain';
import type { Logger } from '@secrets/telemetry';
import { LRUCache } from 'lru-cache';
import type { IdentityContext } from '../../../issuer/identity-context.ts';
import { issueIdentityToken } from '../../../issuer/issue-identity-token.ts';
import { decryptSecret } from '../config/secret-fields.ts';
import { findCredentials, type StoredCredentials } from '../queries/configs.ts';
import type { ProviderUrls } from './clouds.ts';
import type { EnvironmentCredentials } from './credentials/credential-source.ts';
import type { MountClient } from './mount-client.ts';

const maxMounts = 1_000;

/** A mount, as its identity tokens name it. */
export interface MountIdentity {
  mountId: string;
  /** Empty for the root namespace. */
  namespacePath: string;
  accessor: string;
}

export interface MountClientsOptions extends IdentityContext, Pick<RowSource, 'rows'> {
  urls: ProviderUrls;
  environment: EnvironmentCredentials;
  debugLog: Logger | undefined;
}

interface Kept {
  revision: number;
  client: MountClient;
}

/** The clients of all mounts, each for the newest configuration of its mount. */
export class MountClients {
  readonly #options: MountClientsOptions;
  readonly #byMount = new LRUCache<string, Kept>({ max: maxMounts });

  constructor(options: MountClientsOptions) {
    this.#options = options;
  }

  /**
   * The client for what is stored now: the one of the last call, unless the configuration was written since. Throws
   * `bad_gateway` if the mount has no configuration, or none with usable credentials.
   */
  async current(mount: MountIdentity): Promise<MountClient> {
    const stored = await findCredentials(this.#options, mount.mountId);
    if (stored === undefined) throw new Problem('bad_gateway', 'this auth mount is not configured');
    const kept = this.#byMount.get(mount.mountId);
    if (kept?.revision === stored.revision) return kept.client;
    const client = await this.#create(mount, stored);
    this.#byMount.set(mount.mountId, { revision: stored.revision, client });
    return client;
  }

  /** The credentials of the environment, used by mounts that store none. */
  get environment(): EnvironmentCredentials {
    return this.#options.environment;
  }

  forget(mountId: string): void {
    this.#byMount.delete(mountId);
  }

  /** The provider's SDKs are loaded with the first client: many installations do without them. */
  async #create(mount: MountIdentity, { settings, sealedSecret }: StoredCredentials): Promise<MountClient> {
    const { keyRing, environment } = this.#options;
    const { MountClient } = await import('./mount-client.ts');
    return new MountClient({
      ...this.#options,
      environment: isAdministrative({ path: mount.namespacePath }) ? environment : undefined,
      settings,
      secret:
        sealedSecret === null
          ? undefined
          : decryptSecret(keyRing, mount.mountId, 'client_secret', sealedSecret),
      assertion: async () => {
        const { identity_token_audience: audience, identity_token_ttl } = settings;
        const ttlSeconds = identity_token_ttl || identityTokenSeconds.usual;
        const request = { subject: subjectOf(mount), audience, ttlSeconds };
        return (await issueIdentityToken(this.#options, request)).token;
      },
    });
  }
}

const subjectOf = ({ namespacePath, accessor }: MountIdentity): string =>
  `plugin-identity:${namespacePath || 'root'}:auth:${accessor}`;
