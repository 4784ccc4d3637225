import { InternalTls } from '@secrets/http';
import { reloadFiles } from './reload-files.ts';
import type { Process } from './run-service.ts';

/**
 * Reads the certificate of a service, measures when it expires, and reads it again when its files change. Returns undefined if
 * `INTERNAL_TLS_DIR` is not set.
 * @throws if a file is missing or unusable
 */
export async function openInternalTls({
  env,
  log,
  metrics,
  onStop,
}: Process<{ INTERNAL_TLS_DIR?: string | undefined }>): Promise<InternalTls | undefined> {
  if (env.INTERNAL_TLS_DIR === undefined) return undefined;
  const tls = await InternalTls.open(env.INTERNAL_TLS_DIR);
  const expires = metrics.gauge(
    'internal_tls_certificate_expires_seconds',
    'When the certificate for calls between services expires, in Unix time',
  );
  const observe = () => expires.set(tls.expiresAt.getTime() / 1_000);
  observe();
  const reload = () => tls.reload().then(observe);
  reloadFiles(
    { log, onStop },
    { what: 'the certificate for calls between services', files: tls.files, reload },
  );
  return tls;
}
