import { X509Certificate } from 'node:crypto';
import { copyFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { createMetrics } from '@secrets/telemetry';
import { selfSignedFiles } from '../../../../libs/http/tests/self-signed.ts';
import { observeCertificate } from './certificate-expiry.ts';

test('the time at which the certificate expires follows the file', async () => {
  const metrics = createMetrics('gateway', { processMetrics: false });
  const { cert, certFile } = await selfSignedFiles();
  const next = await selfSignedFiles();
  const expires = async () =>
    Number(/^tls_certificate_expires_seconds\{.*\} (.*)$/m.exec(await metrics.text())?.[1]);
  const observe = await observeCertificate(metrics, certFile);
  expect(await expires()).toBe(Date.parse(new X509Certificate(cert).validTo) / 1_000);
  expect(await expires()).toBeGreaterThan(Date.now() / 1_000);
  await writeFile(certFile, 'no certificate');
  await expect(observe()).rejects.toThrow();
  await copyFile(next.certFile, certFile);
  await observe();
  expect(await expires()).toBe(Date.parse(new X509Certificate(next.cert).validTo) / 1_000);
});
