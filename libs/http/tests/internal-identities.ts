import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Authority,
  authorityCertificate,
  type CertificateRequest,
  issueCertificate,
  newPrivateKey,
} from '../../../services/setup/src/keys/certificates/issue.ts';

/** An authority, and folders with certificates of it. */
export interface Identities {
  /** Creates a folder for a service, or writes its files again. */
  folderOf(service: string, change?: IdentityChange): Promise<string>;
  remove(): void;
}

export interface IdentityChange extends Partial<CertificateRequest> {
  /** Signs in place of the authority. */
  signedBy?: Authority;
  /** When the certificate was issued; it is valid for a year. */
  issuedAt?: Date;
  /** The name of the folder, by default that of the service. */
  folder?: string;
}

export async function newAuthority(): Promise<Authority> {
  const key = newPrivateKey();
  return { key, certificate: await authorityCertificate(key, new Date()) };
}

export async function createIdentities(): Promise<Identities> {
  const root = mkdtempSync(join(tmpdir(), 'identities-'));
  const authority = await newAuthority();
  return {
    folderOf: async (service, { signedBy = authority, issuedAt = new Date(), ...change } = {}) => {
      const folder = join(root, change.folder ?? service);
      const key = newPrivateKey();
      const request = { names: [service], isServer: true, isClient: true, ...change };
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'tls.crt'), await issueCertificate(request, key, signedBy, issuedAt));
      writeFileSync(join(folder, 'tls.key'), key);
      writeFileSync(join(folder, 'ca.crt'), authority.certificate);
      return folder;
    },
    remove: () => rmSync(root, { recursive: true }),
  };
}
