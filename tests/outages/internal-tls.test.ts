import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import { type Db, openPostgres } from '@secrets/db';
import { openRabbit } from '../../libs/broker/src/index.ts';
import { InternalTls } from '../../libs/http/src/index.ts';
import { KeysEnv } from '../../services/setup/src/config.ts';
import { createCertificates } from '../../services/setup/src/keys/certificates/create-certificates.ts';
import { createKeys } from '../../services/setup/src/keys/create-keys.ts';
import { eventually, quietFor } from '../harness/eventually.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';

/** Keys as `setup keys` creates them. */
async function createKeysFolder(): Promise<{ folder: string; env: KeysEnv }> {
  const folder = mkdtempSync(join(tmpdir(), 'tls-keys-'));
  const env = KeysEnv.parse({ KEYS_DIR: folder, INTERNAL_TLS: 'on' });
  createKeys(env);
  await createCertificates(env);
  return { folder, env };
}

const [own, foreign] = await Promise.all([createKeysFolder(), createKeysFolder()]);
afterAll(() => {
  for (const { folder } of [own, foreign]) rmSync(folder, { recursive: true });
});

/** Runs the demo, which trusts the authority of the installation, and returns its output. */
async function demo({ url, sandboxUrl, folder }: Suite['system']): Promise<string> {
  const args = ['--url', url, '--root-token-file', join(folder, 'root-token'), '--sandbox-url', sandboxUrl];
  const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: join(own.folder, 'gateway/ca.crt') };
  const child = spawn(process.execPath, ['scripts/demo.ts', ...args], { env });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  await once(child, 'close');
  return Buffer.concat(output).toString();
}

/** The URL with the certificates of an authority that has not signed that of the server. */
const untrusting = (url: string) => url.replace(own.folder, foreign.folder);

async function withDb<T>(url: string, use: (db: Db) => Promise<T>): Promise<T> {
  const db = openPostgres({ url, connections: 1, applicationName: 'test' });
  return use(db).finally(db.close);
}

const define = (suite: Suite) => {
  test('the demo passes with TLS between all services, to PostgreSQL and to RabbitMQ', async () => {
    expect(await demo(suite.system)).toContain('demo: passed');
    const connections = await withDb(suite.system.postgres.url, (db) =>
      db.query<{ name: string; ssl: boolean }>(
        `select distinct a.application_name as name, s.ssl from pg_stat_activity a join pg_stat_ssl s using (pid)
         where a.backend_type = 'client backend' and a.application_name <> 'test'`,
      ),
    );
    expect(connections.filter(({ ssl }) => !ssl)).toEqual([]);
    expect(connections.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['gateway', 'login', 'secrets', 'sync-control', 'sync-worker-cloudb-kv']),
    );
  });

  test('a service answers operators without TLS, and nobody else', async () => {
    const { secrets } = suite.system.processes;
    expect((await fetch(secrets.readyUrl)).status).toBe(200);
    expect((await fetch(new URL('/v1/sys/mounts', secrets.readyUrl))).status).toBe(404);
    await expect(fetch(secrets.url.replace('https:', 'http:'))).rejects.toThrow();
  });

  test('PostgreSQL and RabbitMQ with a certificate of another authority are not used', async () => {
    const { postgres, rabbit } = suite.system;
    await expect(withDb(untrusting(postgres.url), (db) => db.query('select 1'))).rejects.toMatchObject({
      code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/),
    });
    const warnings: string[] = [];
    const log = {
      info: () => undefined,
      error: () => undefined,
      warn: (fields: object) => void warnings.push(JSON.stringify(fields)),
    };
    const broker = openRabbit({ url: untrusting(rabbit.url), log });
    await eventually(
      async () => warnings.join(),
      (text) => /SELF_SIGNED|UNABLE_TO_VERIFY/.test(text),
    );
    await quietFor(500);
    expect(broker.state()).toBe('reconnecting');
    await broker.close();
  });

  test('a renewed certificate is used within seconds, while requests go on', async () => {
    const tls = await InternalTls.open(join(own.folder, 'gateway'));
    const { secrets } = suite.system.processes;
    const presented = async () => {
      const { hostname: host, port } = new URL(secrets.url);
      const socket = connect({ ...tls.clientOptions('secrets'), host, port: Number(port) });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerX509Certificate()!;
      socket.destroy();
      return serialNumber;
    };
    const before = await presented();
    rmSync(join(own.folder, 'secrets/tls.crt'));
    rmSync(join(own.folder, 'gateway/tls.crt'));
    expect((await createCertificates(own.env)).sort()).toEqual(['gateway', 'secrets']);
    await eventually(presented, (serial) => serial !== before, 30_000);
    expect(await demo(suite.system)).toContain('demo: passed');
  });
};

await describeDistributed('TLS between services', define, { keysFolder: own.folder, everyType: true });
