import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key and a certificate of the address of the cluster. */
export function certificateOf(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  const [key, cert] = ['key', 'cert'].map((name) => join(folder, name)) as [string, string];
  const subject = ['-subj', '/CN=cluster', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...subject], {
    stdio: 'ignore',
  });
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pair;
}
