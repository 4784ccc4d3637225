import { readInternalKeys } from '@secrets/caller';
import { openPostgres } from '@secrets/db';
import { startServer } from '@secrets/http';
import { openRowKeys } from '@secrets/key-service';
import { onReloadSignal, openInternalTls, reloadFiles, runService, serve } from '@secrets/service';
import { openAudit } from '@secrets/telemetry';
import { createGateway } from './app.ts';
import { Env, publicCertificate } from './config.ts';
import { healthPath } from './request/gateway-request.ts';
import { tlsFiles } from './settings.ts';
import { observeCertificate } from './telemetry/certificate-expiry.ts';

await runService('gateway', Env, async (started) => {
  const { env, log, metrics, onStop } = started;
  const db = openPostgres({ url: env.DATABASE_URL, applicationName: 'gateway' });
  onStop(db.close);
  const keys = readInternalKeys(db, env.INTERNAL_KEY_FILE);
  const rowKeys = await openRowKeys(started, { host: env.HOST, port: env.INTERNAL_PORT });
  const audit = await openAudit(env.AUDIT_FILE);
  onStop(audit.close);
  const tls = await openInternalTls(started);
  const gateway = createGateway(
    { db, keys, audit, log, metrics, rowKeys, tls },
    {
      upstreams: { login: env.LOGIN_URL, secrets: env.SECRETS_URL, 'sync-control': env.SYNC_CONTROL_URL },
      allowedHosts: env.ALLOWED_HOSTS.length === 0 ? undefined : env.ALLOWED_HOSTS,
      settings: env,
    },
  );
  const internal = await startServer(gateway.internal, { host: env.HOST, port: env.INTERNAL_PORT });
  onStop(() => internal.stop(1_000));
  const { HOST: host, PORT: port, MAX_CONNECTIONS: maxConnections } = env;
  const { onUnparsed } = gateway;
  const readyPaths = [`/v1/${healthPath}`];
  const publicTls = tlsFiles(publicCertificate(env));
  const options = { host, port, listVerb: true, maxConnections, onUnparsed, readyPaths, ...publicTls };
  const server = await serve(
    gateway,
    options,
    { log, onStop },
    { drainSeconds: env.DRAIN_SECONDS, alsoUnready: [internal] },
  );
  const reopenFailed = (error: unknown) => log.error({ error }, 'unable to reopen the audit log');
  onStop(onReloadSignal(() => void audit.reopen().catch(reopenFailed)));
  if (publicTls.tls !== undefined) {
    const { certFile, keyFile } = publicTls.tls;
    const observe = await observeCertificate(metrics, certFile);
    const reload = () => server.reloadTls().then(observe);
    reloadFiles({ log, onStop }, { what: 'the TLS files', files: [certFile, keyFile], reload });
  }
});
