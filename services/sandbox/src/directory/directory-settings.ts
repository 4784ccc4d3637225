import { z } from 'zod';

const delayMs = z.int().nonnegative().max(600_000);

const DirectorySettings = z.strictObject({
  /** How long it takes until a password that Graph added works. */
  passwordDelayMs: delayMs,
  /** How long a password still works after Graph removed it. */
  removalDelayMs: delayMs,
  /** What the application may do in Graph. */
  graphPermissions: z.array(z.string().min(1).max(128)).max(100),
  /** Whether the tokens of managed identities name the resource that they run on. */
  resourceClaims: z.boolean(),
  /** The domains of the tenant, which name it wherever its ID does. */
  domains: z.array(z.string().regex(/^[a-z0-9.-]{1,253}$/)).max(100),
  /** Resource ID of the machine whose metadata endpoint the sandbox is; null: the first machine. */
  instance: z.string().max(2_048).nullable(),
});
export type DirectorySettings = z.infer<typeof DirectorySettings>;

/** The application may by default change the passwords of applications that it owns, such as its own. */
const defaults: DirectorySettings = {
  passwordDelayMs: 0,
  removalDelayMs: 0,
  graphPermissions: ['Application.ReadWrite.OwnedBy'],
  resourceClaims: true,
  domains: ['sandbox.onmicrosoft.com'],
  instance: null,
};

/** Settings of the directory, as kept in the journal. */
export class SettingsOfDirectory {
  readonly #initial: DirectorySettings;
  readonly #persist: (record: object) => void;
  #current: DirectorySettings;

  constructor(initial: Partial<DirectorySettings>, persist: (record: object) => void) {
    this.#initial = { ...defaults, ...DirectorySettings.partial().parse(initial) } as DirectorySettings;
    this.#persist = persist;
    this.#current = this.#initial;
  }

  get current(): DirectorySettings {
    return this.#current;
  }

  /** Changes the settings that are present. Throws ZodError if one is invalid. */
  change(changes: unknown): DirectorySettings {
    const settings = { ...this.#current, ...DirectorySettings.partial().parse(changes) } as DirectorySettings;
    this.#persist({ settings });
    this.#current = settings;
    return settings;
  }

  restoreDefaults(): void {
    this.#current = this.#initial;
  }

  replay(record: object): void {
    if ('settings' in record) this.#current = { ...this.#initial, ...(record.settings as DirectorySettings) };
  }

  snapshot(): object[] {
    return [{ settings: this.#current }];
  }
}
