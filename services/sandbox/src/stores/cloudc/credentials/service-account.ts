import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { rsaKeyFromSeed } from './rsa-key.ts';

/** The service account of the sandbox. Its key is derived from the seed when it is first needed, which takes some 100 ms. */
export class ServiceAccount {
  readonly project: string;
  readonly email: string;
  readonly keyId: string;
  readonly #seed: string;
  #key: KeyObject | undefined;

  constructor(seed: string, project: string) {
    this.#seed = seed;
    this.project = project;
    this.email = `sync@${project}.iam.gserviceaccount.com`;
    this.keyId = createHash('sha1').update(`sandbox service account ${seed}`).digest('hex');
  }

  get #privateKey(): KeyObject {
    this.#key ??= rsaKeyFromSeed(`sandbox service account ${this.#seed}`);
    return this.#key;
  }

  get publicKey(): KeyObject {
    return createPublicKey(this.#privateKey);
  }

  /** The content of a key file, as the provider issues it. */
  keyFile(): string {
    return JSON.stringify({
      type: 'service_account',
      project_id: this.project,
      private_key_id: this.keyId,
      private_key: this.#privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: this.email,
      client_id: String(parseInt(this.keyId.slice(0, 12), 16)),
      auth_uri: 'https://accounts.google.com/o/oauth2/auth',
      token_uri: 'https://oauth2.googleapis.com/token',
      auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
      universe_domain: 'googleapis.com',
    });
  }
}
