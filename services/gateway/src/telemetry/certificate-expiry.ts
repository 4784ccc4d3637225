import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Metrics } from '@secrets/telemetry';

/**
 * Measures when the certificate that clients see expires, the first one in the file. Returns a function to be called after each
 * change of the file.
 */
export async function observeCertificate(metrics: Metrics, certFile: string): Promise<() => Promise<void>> {
  const expires = metrics.gauge(
    'tls_certificate_expires_seconds',
    'When the certificate expires, in Unix time',
  );
  const observe = async () => {
    const { validTo } = new X509Certificate(await readFile(certFile));
    expires.set(Date.parse(validTo) / 1_000);
  };
  await observe();
  return observe;
}
