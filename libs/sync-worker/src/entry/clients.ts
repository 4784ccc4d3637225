import type { Sql } from '@secrets/db';
import { credentialsAad, destinationTypes } from '@secrets/destinations';
import { codehostAppAad, Fault } from '@secrets/domain';
import { type Aad, decrypt, ForeignBytesError, type KeyRing, seal } from '@secrets/seal';
import {
  type EntryContext,
  readCodehostApp,
  rememberScope,
  rememberScopeMembers,
} from '@secrets/sync-entries';
import type { ConnectedDestination, Driver, DriverContext } from '../driver/driver.ts';
import { parsedSettings } from '../driver/parsed-settings.ts';
import { ScopeMemory } from '../driver/scope-memory.ts';
import type { IdentityTokens } from '../runtime/identity-tokens.ts';
import { rememberedSecrets } from './values/remembered-secrets.ts';

type Destination = EntryContext['destination'];

interface ClientsDeps {
  keyRing: KeyRing;
  db: Sql;
  identityTokens: IdentityTokens;
}

/** Part of the context that all destinations share. */
type SharedContext = Omit<DriverContext, 'identityToken' | 'remembered' | 'scope'>;

interface Client {
  revision: string;
  connected: Promise<ConnectedDestination>;
  users: number;
  retired: boolean;
  lastUsed: number;
}

const maxClients = 200;

/**
 * Caches one connected client per destination. A changed destination gets a new client, and the old one is closed when
 * its last user has finished. At most 200 clients are kept; the least recently used one is closed first.
 */
export class Clients {
  readonly #clients = new Map<string, Client>();
  readonly #driver: Driver;
  readonly #context: SharedContext;
  readonly #keyRing: KeyRing;
  readonly #db: Sql;
  readonly #identityTokens: IdentityTokens;

  constructor(driver: Driver, context: SharedContext, { keyRing, db, identityTokens }: ClientsDeps) {
    this.#driver = driver;
    this.#context = context;
    this.#keyRing = keyRing;
    this.#db = db;
    this.#identityTokens = identityTokens;
  }

  /** Runs `work` with the destination's client. A failed connection is not cached. */
  async use<T>(destination: Destination, work: (connected: ConnectedDestination) => Promise<T>): Promise<T> {
    const client = this.#current(destination);
    client.users += 1;
    try {
      return await work(await client.connected);
    } finally {
      client.users -= 1;
      client.lastUsed = Date.now();
      this.#closeIfUnused(client);
    }
  }

  async close(): Promise<void> {
    for (const id of [...this.#clients.keys()]) this.#retire(id);
  }

  #current(destination: Destination): Client {
    const known = this.#clients.get(destination.id);
    if (known?.revision === destination.revision) return known;
    this.#retire(destination.id);
    if (this.#clients.size >= maxClients) this.#retireLeastRecentlyUsed();
    const client: Client = {
      revision: destination.revision,
      connected: this.#connect(destination),
      users: 0,
      retired: false,
      lastUsed: Date.now(),
    };
    client.connected.catch(() => this.#retire(destination.id, client)); // its users await the same promise and see the failure
    this.#clients.set(destination.id, client);
    return client;
  }

  async #connect(destination: Destination): Promise<ConnectedDestination> {
    const { id, type, name, namespacePath, scopeId, scopeMembers: known } = destination;
    const settings = parsedSettings(destinationTypes[type], name, destination.settings);
    const credentials = seal({
      ...decryptCredentials(this.#keyRing, destination),
      ...(await this.#appCredentials(destination)),
    });
    return this.#driver.connect(
      { id, type, name, namespacePath, settings, credentials },
      {
        ...this.#context,
        scope: new ScopeMemory(scopeId, (seen) => requireStored(rememberScope(this.#db, id, seen)), {
          known,
          record: (seen) => requireStored(rememberScopeMembers(this.#db, id, seen)),
        }),
        identityToken: (request) => this.#identityTokens.issue({ name, namespacePath }, request),
        remembered: (secrets) => rememberedSecrets(this.#db, type, secrets),
      },
    );
  }

  /**
   * Read anew for each client: a changed application changes the revisions of the destinations that use it. Its private key is
   * not even decrypted for a destination at another server, which must not receive a signature.
   */
  async #appCredentials({ codehostAppId: id, settings }: Destination): Promise<Record<string, string>> {
    if (id === null) return {};
    const app = await readCodehostApp(this.#db, id);
    if (app === undefined) throw new Fault('rejected', 'the code-host application no longer exists');
    if (app.enterpriseUrl !== (settings.enterprise_url ?? ''))
      throw new Fault('rejected', 'enterprise_url: the code-host application is for another server');
    const aad = codehostAppAad({ id, enterpriseUrl: app.enterpriseUrl });
    const privateKey = opened(this.#keyRing, aad, app.sealedPrivateKey, 'code-host application');
    return { app_id: String(app.appId), private_key: privateKey };
  }

  #retire(id: string, only?: Client): void {
    const client = this.#clients.get(id);
    if (client === undefined || (only !== undefined && client !== only)) return;
    this.#clients.delete(id);
    client.retired = true;
    this.#closeIfUnused(client);
  }

  #retireLeastRecentlyUsed(): void {
    const [oldest] = [...this.#clients.entries()].sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (oldest !== undefined) this.#retire(oldest[0]);
  }

  #closeIfUnused(client: Client): void {
    if (!client.retired || client.users > 0) return;
    client.connected.then((connected) => connected.close()).catch(() => undefined); // no caller is left to handle it
  }
}

async function requireStored<T>(stored: Promise<T | undefined>): Promise<T> {
  const remembered = await stored;
  if (remembered === undefined) throw new Fault('rejected', 'the destination no longer exists');
  return remembered;
}

function decryptCredentials(keyRing: KeyRing, destination: Destination): Record<string, string> {
  const { sealedCredentials } = destination;
  if (sealedCredentials === null) return {};
  return JSON.parse(opened(keyRing, credentialsAad(destination), sealedCredentials, 'destination'));
}

/** Decrypts what is sent to a server, unless the row was changed by something else than sync-control. */
function opened(keyRing: KeyRing, aad: Aad, sealed: Uint8Array, object: string): string {
  try {
    return decrypt(keyRing, aad, sealed).toString('utf8');
  } catch (error) {
    if (error instanceof ForeignBytesError) throw new Fault('rejected', changedInDatabase(object));
    throw error;
  }
}

const changedInDatabase = (object: string): string =>
  `the credentials of the ${object} were stored with other settings, so something else than this service has changed its row; ` +
  `restore the row from a backup, or delete the ${object} and create it again`;
