import { z } from 'zod';

const text = z.string().min(1).max(2_048);

/**
 * A trust relationship of a provider: it accepts the tokens of an issuer with this subject and this audience. The field
 * names are the journal's format.
 */
export const FederatedCredential = z.object({
  /**
   * For what it is meant: a type of destination, or the login method `cloudB`. The directory trusts those of
   * `cloudB-kv` and `cloudB`, which differ only in their subject: `secrets-sync:<namespace>:<type>:<name>` or
   * `plugin-identity:<namespace>:auth:<mount accessor>`.
   */
  store: z.enum(['cloudA-sm', 'cloudB-kv', 'cloudC-sm', 'cloudB']),
  /** Base URL of the discovery document, which is fetched for each token. */
  issuer: z.url({ protocol: /^https?$/ }).max(2_048),
  subject: text,
  audience: text,
  /** cloudA-sm: the role that may be assumed. Default: any role. */
  role_arn: text.optional(),
  /** cloudC-sm: the workload identity pool provider, `projects/…/providers/…`. Default: any. */
  provider: text.optional(),
  /** cloudC-sm: the service account that may be impersonated. Without it, the identity may use the API itself. */
  service_account_email: text.optional(),
});
export type FederatedCredential = z.infer<typeof FederatedCredential>;

/** The federated credentials that are registered, by their ID. */
export class FederatedCredentials {
  readonly #byId = new Map<string, FederatedCredential>();
  readonly #persist: (record: object) => void;

  constructor(persist: (record: object) => void) {
    this.#persist = persist;
  }

  /** Throws `ZodError` if it is not a valid credential. */
  add(requested: unknown): string {
    const credential = FederatedCredential.parse(requested);
    const id = crypto.randomUUID();
    this.#byId.set(id, credential);
    this.#persist({ added: id, credential });
    return id;
  }

  remove(id: string): boolean {
    const existed = this.#byId.delete(id);
    if (existed) this.#persist({ removed: id });
    return existed;
  }

  list(): (FederatedCredential & { id: string })[] {
    return [...this.#byId].map(([id, credential]) => ({ id, ...credential }));
  }

  /** Those of a store. */
  of(store: FederatedCredential['store']): FederatedCredential[] {
    return [...this.#byId.values()].filter((credential) => credential.store === store);
  }

  /** Those of the directory's application. */
  ofApplication(): FederatedCredential[] {
    return [...this.of('cloudB-kv'), ...this.of('cloudB')];
  }

  replay(record: object): void {
    if ('added' in record)
      this.#byId.set(
        String(record.added),
        FederatedCredential.parse((record as { credential?: unknown }).credential),
      );
    if ('removed' in record) this.#byId.delete(String(record.removed));
  }

  snapshot(): Iterable<object> {
    return [...this.#byId].map(([added, credential]) => ({ added, credential }));
  }
}
