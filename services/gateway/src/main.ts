import { readInternalKeys } from '@secrets/caller';
import { readConfig, withFiles } from '@secrets/config';
import { openPostgres } from '@secrets/db';
import { runProcess, startServer, stopInOrder } from '@secrets/http';
import { createLogger, createMetrics, openAudit } from '@secrets/telemetry';
import { createGateway } from './app.ts';
import { Env } from './config.ts';

const service = 'gateway';
const log = createLogger({ service, level: process.env.LOG_LEVEL ?? 'info' });

await runProcess(log, async () => {
  const env = readConfig(Env, withFiles(process.env));
  const db = openPostgres({ url: env.DATABASE_URL, applicationName: service });
  const gateway = await createGateway(
    {
      db,
      keys: readInternalKeys(env.INTERNAL_KEY_FILE),
      audit: openAudit(env.AUDIT_FILE),
      log,
      metrics: createMetrics(service),
    },
    {
      upstreams: { login: env.LOGIN_URL, secrets: env.SECRETS_URL, 'sync-control': env.SYNC_CONTROL_URL },
      trustedProxies: env.TRUSTED_PROXIES,
    },
  );
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile } = env;
  const tls = certFile === undefined || keyFile === undefined ? {} : { tls: { certFile, keyFile } };
  const server = await startServer(gateway.app, { host: env.HOST, port: env.PORT, listVerb: true, ...tls });
  const internal = await startServer(gateway.internal, { host: env.HOST, port: env.INTERNAL_PORT });
  process.on(
    'SIGHUP',
    () => void server.reloadTls().catch((error: unknown) => log.error({ error }, 'TLS files unusable')),
  );
  log.info({ url: server.url }, 'ready');
  return stopInOrder(
    () => server.stop(10_000),
    gateway.stop,
    () => internal.stop(1_000),
    db.close,
  );
});
