import { randomBytes } from 'node:crypto';
import { unauthenticated } from '../codehost-error.ts';

/** Who makes a call: never the token itself. */
interface Caller {
  isInstallation: boolean;
}

/** The tokens that the code host accepts: personal ones, and those that it has issued to installations. */
export class Callers {
  readonly #personal: ReadonlySet<string>;
  readonly #now: () => number;
  readonly #issued = new Map<string, { expiresAtMs: number; installation: string }>();

  constructor(personal: readonly string[], now: () => number) {
    this.#personal = new Set(personal);
    this.#now = now;
  }

  /** Issues a token to an installation. */
  issue(installation: string, seconds: number): { token: string; expiresAt: string } {
    const token = `ghs_${randomBytes(18).toString('hex')}`;
    const expiresAtMs = Math.floor(this.#now() / 1000 + seconds) * 1000;
    this.#issued.set(token, { expiresAtMs, installation });
    return { token, expiresAt: new Date(expiresAtMs).toISOString().replace('.000', '') };
  }

  /** Withdraws every token that was issued. */
  revoke(): void {
    this.#issued.clear();
  }

  /** @throws CodehostError 401, if the token is unknown or has expired */
  authenticate(token: string): Caller {
    if (this.#personal.has(token)) return { isInstallation: false };
    const issued = this.#issued.get(token);
    if (issued === undefined || issued.expiresAtMs <= this.#now()) throw unauthenticated();
    return { isInstallation: true };
  }
}

/** The token in an `Authorization` header, under either of the schemes in use. */
export const tokenIn = (authorization: string | undefined): string =>
  /^(?:token|bearer) (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
