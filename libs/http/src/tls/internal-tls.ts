import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { nameMismatch } from './certificate-name.ts';

/** Proves the name of a service, and verifies those of others; in PEM. */
interface Identity {
  /** The certificate of the service, with its chain. */
  cert: string;
  key: string;
  /** The certificates of the authorities that may have signed those of the other services. */
  ca: string;
}

/** Older versions are not needed: both ends are services of this installation. */
export const internalMinVersion = 'TLSv1.3' as const;

/**
 * TLS between services, where both ends present a certificate: that of `secrets` has the DNS name `secrets`, at whatever
 * address it is reached.
 */
export class InternalTls {
  readonly files: readonly string[];
  readonly #folder: string;
  readonly #onChange = new Set<() => void>();
  #identity: Identity;

  private constructor(folder: string, identity: Identity) {
    this.#folder = folder;
    this.#identity = identity;
    this.files = fileNames.map((name) => join(folder, name));
  }

  /**
   * Reads `tls.crt`, `tls.key` and `ca.crt` in a folder.
   * @throws if one is missing or unusable, or the key is not that of the certificate
   */
  static async open(folder: string): Promise<InternalTls> {
    return new InternalTls(folder, await readIdentity(folder));
  }

  /** When the own certificate expires. */
  get expiresAt(): Date {
    return new Date(new X509Certificate(this.#identity.cert).validTo);
  }

  /** The identity for the next connection: another object after each reload. */
  get identity(): Readonly<Identity> {
    return this.#identity;
  }

  /** Reads the files again, for new connections. Rejects, and keeps what it has, if they are unusable. */
  async reload(): Promise<void> {
    this.#identity = await readIdentity(this.#folder);
    for (const changed of this.#onChange) changed();
  }

  /** Calls `changed` after each reload; returns a function that ends this. */
  onChange(changed: () => void): () => void {
    this.#onChange.add(changed);
    return () => void this.#onChange.delete(changed);
  }

  /** Options of a connection to a service. A certificate with another name is refused. */
  clientOptions(service: string) {
    return {
      ...this.#identity,
      minVersion: internalMinVersion,
      servername: service,
      rejectUnauthorized: true,
      checkServerIdentity: (_host: string, { raw }: { raw: Buffer }) => nameMismatch(raw, [service]),
    } satisfies ConnectionOptions;
  }
}

const fileNames = ['tls.crt', 'tls.key', 'ca.crt'] as const;

async function readIdentity(folder: string): Promise<Identity> {
  const [cert, key, ca] = await Promise.all(fileNames.map((name) => readFile(join(folder, name), 'utf8')));
  const identity = { cert: cert!, key: key!, ca: ca! };
  createSecureContext(identity);
  return identity;
}
