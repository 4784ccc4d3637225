import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** Creates a self-signed certificate for 127.0.0.1 and writes it and its key to files in a temporary folder. */
export async function selfSignedFiles(): Promise<{
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    keyType: 'ec',
    curve: 'P-256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  await Promise.all([writeFile(files.certFile, cert), writeFile(files.keyFile, key, { mode: 0o600 })]);
  return { ...files, cert, key };
}
