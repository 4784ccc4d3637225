import { join } from 'node:path';
import { createSecretFile, readSecretFile, replaceSecretFile } from '@secrets/seal';
import type { KeysEnv } from '../../config.ts';
import { setupFolder } from '../installation.ts';
import { authorityHolders, certificateRequests } from './certificate-requests.ts';
import {
  type Authority,
  authorityCertificate,
  type CertificateRequest,
  isCurrent,
  isCurrentAuthority,
  issueCertificate,
  newPrivateKey,
} from './issue.ts';

const mode = 0o400;

/**
 * Creates the authority of the installation in the folder `setup`, the certificate of it in each other folder, and there a key
 * and a certificate of each service that serves or calls others. What remains valid for 30 days is not changed, so this may run
 * at every start. A renewed certificate has the same key, so that the files belong together at any time. Returns the folders
 * whose certificate is new.
 */
export async function createCertificates(env: KeysEnv, now = new Date()): Promise<string[]> {
  const authority = await openAuthority(join(env.KEYS_DIR, setupFolder), now);
  for (const folder of authorityHolders) store(join(env.KEYS_DIR, folder, 'ca.crt'), authority.certificate);
  const issued: string[] = [];
  for (const [folder, request] of Object.entries(certificateRequests(env)))
    if (await renew(join(env.KEYS_DIR, folder), request, authority, now)) issued.push(folder);
  return issued;
}

async function openAuthority(folder: string, now: Date): Promise<Authority> {
  const key = createSecretFile(join(folder, 'ca.key'), newPrivateKey, { mode });
  const file = join(folder, 'ca.crt');
  const stored = readSecretFile(file);
  if (stored !== undefined && isCurrentAuthority({ certificate: stored, key }, now))
    return { certificate: stored, key };
  return { certificate: store(file, await authorityCertificate(key, now), stored), key };
}

async function renew(
  folder: string,
  request: CertificateRequest,
  authority: Authority,
  now: Date,
): Promise<boolean> {
  const key = createSecretFile(join(folder, 'tls.key'), newPrivateKey, { mode });
  const file = join(folder, 'tls.crt');
  const stored = readSecretFile(file);
  if (stored !== undefined && isCurrent(stored, request, { key, authority, now })) return false;
  store(file, await issueCertificate(request, key, authority, now), stored);
  return true;
}

/** Writes a file whose content is `former`, and returns the content: that of another process if it was faster. */
function store(file: string, content: string, former = readSecretFile(file)): string {
  if (former === undefined) return createSecretFile(file, () => content, { mode });
  if (former !== content) replaceSecretFile(file, former, content);
  return content;
}
