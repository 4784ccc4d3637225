import type { JWK } from 'jose';
import type { FederatedCredentials } from '../federation/federated-credential.ts';
import { observeCalls } from '../simulation/observe-calls.ts';
import type { Simulation, SimulationContext } from '../simulation/simulation.ts';
import { type Application, defaultApplication } from './application/application.ts';
import { ApplicationPasswords } from './application/application-passwords.ts';
import { directoryErrors, directoryRoutes } from './directory-routes.ts';
import { type DirectorySettings, SettingsOfDirectory } from './directory-settings.ts';
import type { Identity } from './identity.ts';
import { claimsOf, identityNamed } from './identity-claims.ts';
import type { Instance } from './instance/instance.ts';
import { issueToken, type TokenOptions } from './issue-token.ts';
import { type KeyRecord, SigningKeys } from './signing-keys.ts';

const NAME = 'directory';

export type DirectoryOptions = Partial<DirectorySettings>;

/**
 * The simulated identity directory. The operations for faults are `discovery`, `keys`, `token`, `metadata-token` and
 * `metadata-instance`.
 */
export interface Directory extends Simulation {
  readonly tenantId: string;
  /** The managed identities of the resources; the first is the machine's own. */
  readonly identities: readonly Identity[];
  /** The application that may request tokens with its passwords. */
  readonly application: Application;
  /** The passwords of the application. */
  readonly passwords: ApplicationPasswords;
  readonly settings: DirectorySettings;
  /** Changes the settings that are present. Throws ZodError if one is invalid. */
  configure(changes: Partial<DirectorySettings>): DirectorySettings;
  /** The keys that verify its tokens, newest first. */
  publishedKeys(): JWK[];
  /** Creates the first signing key, unless the journal restored one. */
  prepare(): Promise<void>;
  /**
   * Creates a key that signs from now on, and returns its ID. Older keys stay published unless `keepOlder` is false.
   */
  rotate(options?: { keepOlder?: boolean }): Promise<string>;
  /** Issues a token with any properties, valid or not. */
  issueToken(options: TokenOptions): Promise<string>;
  /**
   * Issues a token of one of the identities, with its actual claims.
   * @param identity its name, or the ID of the resource that it runs on
   * @throws RangeError if there is no such identity
   */
  issueTokenFor(identity: string, options: Omit<TokenOptions, 'oid'>): Promise<string>;
}

interface DirectoryContext extends SimulationContext {
  federation: FederatedCredentials;
  identities: () => readonly Identity[];
  /** Describes the machine with this resource ID, or the first one; undefined if there is none. */
  instanceOf: (id: string | null) => Instance | undefined;
}

/** Simulates the identity directory, and the metadata service of an instance. */
export function simulateDirectory(
  context: DirectoryContext,
  tenantId: string,
  options: DirectoryOptions = {},
): Directory {
  const state = createState(context, options);
  const { keys, passwords, settings, application, observed } = state;
  const { identities, instanceOf, federation, now } = context;
  const issue = (token: TokenOptions) => issueToken(keys, tenantId, token, now());
  const calls = { ...observed.context, errors: directoryErrors };
  const instance = () => instanceOf(settings.current.instance);
  const rotate = (keepsOlder: boolean) => rotateKeys(state, context, keepsOlder);
  return {
    ...observed.members,
    path: '/directory',
    tenantId,
    get identities() {
      return identities();
    },
    application,
    passwords,
    get settings() {
      return settings.current;
    },
    configure: (changes) => settings.change(changes),
    publishedKeys: () => keys.published(),
    routes: directoryRoutes({
      calls,
      keys,
      tenantId,
      issue,
      metadata: { identities, instance, settings },
      client: { application, passwords, federation },
    }),
    prepare: async () => {
      if (keys.isEmpty) await rotate(false);
    },
    rotate: ({ keepOlder = true } = {}) => rotate(keepOlder),
    issueToken: issue,
    issueTokenFor: async (name, token) =>
      issue({ ...claimsOf(identityNamed(identities(), name), settings.current), ...token }),
    ...persistence(state, context),
  };
}

type DirectoryState = ReturnType<typeof createState>;

function createState({ seed, now, persist }: SimulationContext, options: DirectoryOptions) {
  const application = defaultApplication(seed);
  return {
    keys: new SigningKeys(),
    application,
    passwords: new ApplicationPasswords(application, { now, persist }),
    settings: new SettingsOfDirectory(options, persist),
    observed: observeCalls(NAME, now),
  };
}

async function rotateKeys(
  { keys }: DirectoryState,
  { persist }: SimulationContext,
  keepsOlder: boolean,
): Promise<string> {
  const record = await keys.rotate(keepsOlder);
  persist({ key: record });
  return record.kid;
}

function persistence(
  { keys, passwords, settings, observed }: DirectoryState,
  { persist }: SimulationContext,
): Pick<Simulation, 'reset' | 'replay' | 'snapshot'> {
  const restore = () => {
    passwords.restoreFirst();
    settings.restoreDefaults();
  };
  return {
    reset: () => {
      restore();
      observed.clear();
      persist({ restored: true });
    },
    replay: (record) => {
      if ('key' in record) keys.add(record.key as KeyRecord);
      if ('restored' in record) restore();
      passwords.replay(record);
      settings.replay(record);
    },
    snapshot: () => [
      ...keys.records().map((key) => ({ key })),
      ...passwords.snapshot(),
      ...settings.snapshot(),
    ],
  };
}
