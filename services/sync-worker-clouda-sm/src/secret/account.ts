import { Fault } from '@secrets/domain';
import type { ScopeMemory } from '@secrets/sync-worker';

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html */
export const accountOf = (arn: string): string | undefined =>
  /^arn:[^:]+:[^:]+:[^:]*:(\d{12}):/.exec(arn)?.[1];

/** The account in which the secrets are: that of the credentials, which may be replaced by those of another account. */
export class Account {
  readonly #memory: ScopeMemory;
  readonly #ownAccount: (signal: AbortSignal) => Promise<string>;
  #isKnown = false;

  /** @param ownAccount returns the account of the credentials */
  constructor(memory: ScopeMemory, ownAccount: (signal: AbortSignal) => Promise<string>) {
    this.#memory = memory;
    this.#ownAccount = ownAccount;
  }

  /** Whether a secret with this ARN may be in the account: it is, or the account is not known yet. */
  mayHold = (arn: string): boolean =>
    this.#memory.id === null || [this.#memory.id, undefined].includes(accountOf(arn));

  /**
   * Requires the remembered account, before the first call of a client. If the account of the credentials cannot be
   * seen, the first response shows it.
   */
  async require(signal: AbortSignal): Promise<void> {
    if (this.#isKnown || this.#memory.id === null) return;
    const id = await this.#ownAccount(signal).catch((error: unknown) => {
      if (error instanceof Fault && isAboutService(error)) return undefined;
      throw error;
    });
    if (id !== undefined) await this.#requireId(id);
  }

  /** Requires the account of a secret that was created or found, and remembers it at the first contact. */
  async requireArn(arn: string): Promise<void> {
    const id = accountOf(arn);
    if (id !== undefined && !this.#isKnown) await this.#requireId(id);
  }

  async #requireId(id: string): Promise<void> {
    await this.#memory.require(id, { label: 'the account of the credentials', kind: 'account' });
    this.#isKnown = true;
  }
}

/** The token service may be out of reach, or not exist at the operator's endpoint, although the secrets manager does. */
const isAboutService = ({ kind }: Fault): boolean =>
  kind === 'unavailable' || kind === 'rejected' || kind === 'forbidden';
